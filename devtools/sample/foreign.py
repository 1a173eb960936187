"""Provide texts that are not ordinary English papers.

German, Chinese, and English that the cleaning rules must drop.
"""

from __future__ import annotations

import random

GERMAN_TITLE = "Zur Verbreitung alter Obstsorten in den Gärten rund um Leipzig"
GERMAN_ABSTRACT = (
    "Alte Obstsorten verschwinden seit Jahrzehnten aus den Gärten, obwohl sie für Insekten und Vögel wichtig sind. "
    "Wir haben über drei Jahre hinweg mehr als vierhundert Bäume aufgenommen, ihr Alter geschätzt und ihre Besitzer befragt. "
    "Es zeigt sich, dass vor allem Apfelbäume überdauern, während Birnen und Quitten kaum noch nachgepflanzt werden."
)
GERMAN_HEADS = ("Einleitung", "Methoden", "Ergebnisse", "Diskussion")
_GERMAN = (
    "In vielen Gärten stehen noch Bäume, die vor dem Krieg gepflanzt wurden.",
    "Die Besitzer kennen den Namen der Sorte meist nicht mehr, wohl aber ihren Geschmack.",
    "Für jede Parzelle haben wir die Zahl der Bäume, ihren Umfang und ihren Zustand notiert.",
    "Auffällig ist, dass die Früchte nur in wenigen Haushalten noch verarbeitet werden.",
    "Frühere Erhebungen beschränkten sich auf einzelne Dörfer und lassen sich kaum vergleichen.",
    "Unsere Schätzung des Alters beruht auf dem Umfang des Stammes und auf alten Karten.",
    "Wo Wiesen nur einmal im Jahr gemäht werden, leben deutlich mehr Wildbienen.",
    "Dieser Zusammenhang bleibt bestehen, wenn man die Größe der Gärten berücksichtigt.",
    "Die jüngeren Besitzer wünschen sich Beratung, vor allem zum Schnitt der Bäume.",
    "Ob sich der Rückgang aufhalten lässt, hängt auch von den Baumschulen der Region ab.",
    "Nicht alle Angaben konnten überprüft werden, da einige Unterlagen verloren gegangen sind.",
    "Wir danken den Vereinen, die uns ihre Verzeichnisse zur Verfügung gestellt haben.",
)

CHINESE_TITLE = "城市公园中鸟类多样性与植被结构的关系研究"
CHINESE_ABSTRACT = (
    "城市公园是许多鸟类重要的栖息地。本文调查了十二个公园的植被结构,并在两年中记录了鸟类的种类和数量。"
    "结果表明,灌木层的覆盖率与鸟类多样性显著相关,而公园面积的影响较小。我们建议在管理中保留更多的原生灌木。"
)
CHINESE_HEADS = ("引言", "方法", "结果", "讨论")
_CHINESE = (
    "近年来,城市化的速度不断加快,许多动物失去了原有的栖息地。",
    "公园为鸟类提供了食物和隐蔽的场所,因此受到研究者的重视。",
    "我们在每个公园设置了五个样点,每月观察两次,每次二十分钟。",
    "植被的高度、密度和种类由同一位研究人员进行测量。",
    "统计结果显示,灌木较多的公园中鸟类的种类明显更多。",
    "与以往的研究相比,我们没有发现公园面积的显著影响。",
    "这可能是因为所调查的公园大多位于老城区,面积差别不大。",
    "冬季的鸟类数量高于夏季,其中以候鸟的增加最为明显。",
    "游客的活动对地面觅食的鸟类有一定的干扰。",
    "今后的工作应当包括郊区的公园,并考虑噪声的作用。",
    "保留落叶和枯木可以增加昆虫的数量,从而有利于鸟类。",
    "本研究的数据可以为城市绿地的规划提供参考。",
)

_THE = (
    "The colour of the bark of the tree at the end of the lane was the same as the colour of the soil in the yard.",
    "The owner of the mill told the clerk of the parish that the level of the river was the lowest of the century.",
    "The height of the wall on the side of the road was the limit of the plot in the map of the surveyor.",
    "The keeper of the register marked the name of the farm, the size of the herd and the state of the fence.",
    "The edge of the field by the stream was the part of the estate that the tenants used in the winter.",
    "The plan of the garden in the archive of the town shows the path, the well and the gate to the orchard.",
)


def german(rng: random.Random, sentences: int) -> str:
    """Return a German paragraph."""
    return " ".join(rng.sample(_GERMAN, sentences))


def chinese(rng: random.Random, sentences: int) -> str:
    """Return a Chinese paragraph."""
    return "".join(rng.sample(_CHINESE, sentences))


def the_heavy(rng: random.Random, sentences: int) -> str:
    """Return English in which `the` is more than a quarter of the words: above the 7.5 % of SPEC §8."""
    return " ".join(rng.sample(_THE * 2, sentences))


def threshold_heavy(rng: random.Random, sentences: int) -> str:
    """Return English with `0.05` as its most frequent word, which is not all letters."""
    things = ("finches", "plots", "seeds", "bees", "farms", "nests", "ponds", "lakes", "hedges", "springs")
    out = []
    for _ in range(sentences):
        a, b, c, d = rng.sample(things, 4)
        out.append(
            f"A level of 0.05 suits {a}, yet 0.05 hides {b}, while 0.05 overstates {c} as much as 0.05 does {d}."
        )
    return " ".join(out)
