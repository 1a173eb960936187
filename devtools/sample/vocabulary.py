"""List the words of the sample's prose: one vocabulary per field of study, and names of people and publications."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """The topics of one field; every entry fits the sentence patterns of `prose`."""

    name: str  # as a field of study
    area: tuple[str, ...]  # "work on …"
    things: tuple[str, ...]  # plural nouns: the objects of study
    methods: tuple[str, ...]  # singular, without article, starting with a consonant: "a …"
    materials: tuple[str, ...]  # plural: the measured material
    measures: tuple[str, ...]  # mass nouns or singulars that go without an article
    qualities: tuple[str, ...]  # adjectives
    places: tuple[str, ...]
    journals: tuple[str, ...]
    venues: tuple[str, ...]


FIELDS: tuple[Field, ...] = (
    Field(
        "Computer Science",
        ("information retrieval", "scholarly text mining", "question answering", "summarisation", "entity linking"),
        (
            "citation graphs",
            "scientific abstracts",
            "bibliography entries",
            "sentence embeddings",
            "query logs",
            "reading lists",
            "topic hierarchies",
            "annotated corpora",
            "document clusters",
            "glossary terms",
        ),
        (
            "spectral relaxation",
            "contrastive objective",
            "pairwise ranking model",
            "hierarchical encoder",
            "lexical baseline",
            "sparse attention layer",
            "two-stage retriever",
            "Bayesian mixture",
        ),
        ("conference proceedings", "newspaper archives", "patent collections", "judged queries", "crowd annotations"),
        ("recall", "precision", "annotator agreement", "calibration", "ranking quality", "coverage"),
        ("robust", "sparse", "multilingual", "efficient", "interpretable", "noisy", "scalable"),
        ("Leipzig", "Edinburgh", "Ljubljana", "Kyoto"),
        ("Journal of Document Analysis", "Transactions on Text and Retrieval", "Language Resources Quarterly"),
        ("Conference on Scholarly Documents", "Workshop on Mining Texts", "Symposium on Retrieval"),
    ),
    Field(
        "Biology",
        ("soil ecology", "pollination biology", "freshwater ecology", "microbial symbiosis", "population genetics"),
        (
            "root nodules",
            "beetle communities",
            "seed banks",
            "algal blooms",
            "gut bacteria",
            "nest boxes",
            "migratory finches",
            "lichen colonies",
            "mussel beds",
            "wild bees",
        ),
        (
            "mark-recapture survey",
            "common garden trial",
            "mixed-effects model",
            "metabarcoding protocol",
            "stable isotope assay",
            "reciprocal transplant",
            "long-term exclosure",
        ),
        ("meadow plots", "hedgerow transects", "museum specimens", "sediment cores", "water samples"),
        ("species richness", "survival", "germination", "abundance", "body mass", "genetic diversity"),
        ("seasonal", "invasive", "native", "resilient", "fragmented", "abundant", "cryptic"),
        ("Uppsala", "Galway", "Brno", "Valdivia"),
        ("Annals of Field Ecology", "Journal of Pollination Research", "Freshwater Letters"),
        ("Meeting on Northern Ecology", "Congress of Field Biology"),
    ),
    Field(
        "Medicine",
        ("primary care", "geriatric rehabilitation", "asthma management", "hospital hygiene", "sleep medicine"),
        (
            "care pathways",
            "exercise programmes",
            "discharge letters",
            "medication reviews",
            "sleep diaries",
            "symptom scores",
            "follow-up visits",
            "school clinics",
            "telephone consultations",
            "risk charts",
        ),
        (
            "cluster randomised trial",
            "stepped-wedge design",
            "matched cohort study",
            "patient-led protocol",
            "multivariable regression",
            "nurse-led intervention",
            "qualitative interview guide",
        ),
        ("patient registers", "general practices", "insurance claims", "ward observations", "questionnaires"),
        ("readmission", "adherence", "lung function", "quality of life", "hand hygiene", "waiting time"),
        ("chronic", "frail", "preventive", "moderate", "adverse", "clinical", "supervised"),
        ("Utrecht", "Tampere", "Coimbra", "Dunedin"),
        ("Journal of Everyday Medicine", "Archives of Community Care", "Rehabilitation Reports"),
        ("Conference on Primary Care Research", "Forum of Hospital Hygiene"),
    ),
    Field(
        "Materials Science",
        ("battery research", "corrosion science", "thin-film growth", "ceramic processing", "polymer recycling"),
        (
            "cathode coatings",
            "grain boundaries",
            "oxide films",
            "composite panels",
            "solder joints",
            "porous membranes",
            "weld seams",
            "glass fibres",
            "recycled pellets",
            "epoxy layers",
        ),
        (
            "sol-gel route",
            "phase-field simulation",
            "laser annealing step",
            "tensile protocol",
            "magnetron process",
            "differential scan",
            "pulsed deposition",
        ),
        ("test coupons", "pouch cells", "polished sections", "powder batches", "neutron scans"),
        ("capacity", "hardness", "conductivity", "fracture toughness", "porosity", "fatigue life"),
        ("brittle", "amorphous", "layered", "ductile", "thermal", "metastable", "homogeneous"),
        ("Eindhoven", "Trondheim", "Pune", "Freiberg"),
        ("Journal of Applied Films", "Materials and Process Letters", "Corrosion Quarterly"),
        ("Symposium on Functional Films", "Conference on Battery Materials"),
    ),
    Field(
        "Physics",
        ("radio astronomy", "stellar dynamics", "solar physics", "exoplanet detection", "cosmic-ray physics"),
        (
            "dwarf galaxies",
            "pulsar timings",
            "dust rings",
            "transit signals",
            "sunspot groups",
            "binary stars",
            "molecular clouds",
            "gamma-ray flares",
            "stellar streams",
            "lensed quasars",
        ),
        (
            "maximum likelihood fit",
            "matched filter",
            "Monte Carlo sampler",
            "drift-scan survey",
            "radiative transfer code",
            "Gaussian process model",
            "wavelet decomposition",
        ),
        ("archival plates", "survey images", "photometric nights", "spectra", "simulated skies"),
        ("signal strength", "angular resolution", "timing noise", "completeness", "redshift", "polarisation"),
        ("faint", "variable", "eccentric", "luminous", "compact", "isotropic", "transient"),
        ("Groningen", "Socorro", "Pretoria", "Tartu"),
        ("Letters in Observational Physics", "Journal of Sky Surveys", "Annals of Radio Astronomy"),
        ("Colloquium on Faint Sources", "Meeting on Survey Science"),
    ),
    Field(
        "Economics",
        ("labour economics", "regional development", "transport policy", "household finance", "energy markets"),
        (
            "commuting flows",
            "rural cooperatives",
            "minimum wages",
            "housing vouchers",
            "electricity tariffs",
            "apprenticeship contracts",
            "farm subsidies",
            "savings accounts",
            "bus networks",
            "trade fairs",
        ),
        (
            "difference-in-differences design",
            "structural model",
            "regression discontinuity",
            "panel estimator",
            "field experiment",
            "synthetic control",
            "discrete choice model",
        ),
        ("tax records", "household panels", "firm surveys", "census tracts", "price scanners"),
        ("employment", "productivity", "take-up", "price dispersion", "savings", "welfare"),
        ("regional", "progressive", "informal", "seasonal", "persistent", "heterogeneous", "public"),
        ("Ghent", "Bilbao", "Lublin", "Halifax"),
        ("Review of Regional Economics", "Journal of Household Studies", "Energy and Transport Economics"),
        ("Workshop on Applied Microeconomics", "Conference on Regional Policy"),
    ),
)

FIRST_NAMES = (
    "Ada", "Bruno", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ingrid", "Jonas", "Katrin", "Leila", "Marco",
    "Nadia", "Oskar", "Petra", "Quentin", "Rosa", "Samuel", "Teresa", "Umut", "Viktor", "Wilma", "Xavier", "Yasmin",
    "Zoë", "Łukasz", "José", "Anne-Marie", "Øyvind", "Chiara", "Daniel", "Fiona", "Mbali", "Priya", "Kenji",
)  # fmt: skip
LAST_NAMES = (
    "Lyons", "Waite", "Brandt", "Okafor", "Silva", "Novák", "Petrov", "Hansen", "Müller", "García", "van der Berg",
    "Kowalski", "Lindqvist", "O'Connor", "Rossi", "Haddad", "Tanaka", "Ferreira", "Kaplan", "Marsh", "Duval", "Ito",
    "Bianchi", "Jensen", "Moreau", "Schmid", "de Vries", "Horvat", "Papadakis", "Nguyen", "Sharma", "Whitfield",
    "Castellanos", "Eriksen", "Mbeki", "Aalto", "Rutherford", "Quispe", "Zielinski", "Andersson", "Bauer", "Chandra",
    "Dimitrov", "Faulkner", "Grimaldi", "Holloway", "Ivanova", "Jovanović", "Keller", "Laurent",
)  # fmt: skip
