"""List names in reference strings: journals with their abbreviations, publishers, places, series, organizations."""

from __future__ import annotations

JOURNALS = """
Physical Review Letters|Phys. Rev. Lett.
Physical Review|Phys. Rev.
Physical Review A|Phys. Rev. A
Physical Review B|Phys. Rev. B
Physical Review C|Phys. Rev. C
Physical Review D|Phys. Rev. D
Physical Review E|Phys. Rev. E
Physical Review X|Phys. Rev. X
Reviews of Modern Physics|Rev. Mod. Phys.
Physics Letters A|Phys. Lett. A
Physics Letters B|Phys. Lett. B
Physics Letters|Phys. Lett.
Nuclear Physics A|Nucl. Phys. A
Nuclear Physics B|Nucl. Phys. B
Nuclear Physics B (Proceedings Supplements)|Nucl. Phys. B (Proc. Suppl.)
Nuclear Instruments and Methods in Physics Research A|Nucl. Instrum. Meth. A
Nuclear Instruments and Methods|Nucl. Instr. Meth.
Journal of High Energy Physics|JHEP
Journal of Cosmology and Astroparticle Physics|JCAP
European Physical Journal C|Eur. Phys. J. C
The European Physical Journal B|Eur. Phys. J. B
Zeitschrift für Physik|Z. Phys.
Zeitschrift für Physik C|Z. Phys. C
Annals of Physics|Ann. Phys.
Annalen der Physik|Ann. Phys. (Leipzig)
Physics Reports|Phys. Rept.
Progress of Theoretical Physics|Prog. Theor. Phys.
Reports on Progress in Physics|Rep. Prog. Phys.
Journal of Physics A: Mathematical and General|J. Phys. A
Journal of Physics: Condensed Matter|J. Phys.: Condens. Matter
Journal of Physics B|J. Phys. B: At. Mol. Opt. Phys.
Journal of Physics G|J. Phys. G
Journal of Mathematical Physics|J. Math. Phys.
Communications in Mathematical Physics|Commun. Math. Phys.
Classical and Quantum Gravity|Class. Quantum Grav.
Il Nuovo Cimento|Nuovo Cim.
Nuovo Cimento A|Nuovo Cimento A
Soviet Physics JETP|Sov. Phys. JETP
Soviet Journal of Nuclear Physics|Sov. J. Nucl. Phys.
JETP Letters|JETP Lett.
International Journal of Modern Physics A|Int. J. Mod. Phys. A
Modern Physics Letters A|Mod. Phys. Lett. A
Acta Physica Polonica B|Acta Phys. Polon. B
Computer Physics Communications|Comput. Phys. Commun.
Applied Physics Letters|Appl. Phys. Lett.
Journal of Applied Physics|J. Appl. Phys.
Japanese Journal of Applied Physics|Jpn. J. Appl. Phys.
Review of Scientific Instruments|Rev. Sci. Instrum.
New Journal of Physics|New J. Phys.
Europhysics Letters|Europhys. Lett.
Superconductor Science and Technology|Supercond. Sci. Technol.
Physica A|Physica A
Physica C: Superconductivity|Physica C
Physica D: Nonlinear Phenomena|Physica D
Physica Scripta|Phys. Scr.
Nonlinearity|Nonlinearity
Solid State Communications|Solid State Commun.
Surface Science|Surf. Sci.
Thin Solid Films|Thin Solid Films
Journal of Magnetism and Magnetic Materials|J. Magn. Magn. Mater.
Physics of Fluids|Phys. Fluids
Physics of Plasmas|Phys. Plasmas
Nuclear Fusion|Nucl. Fusion
Plasma Physics and Controlled Fusion|Plasma Phys. Control. Fusion
Journal of Fluid Mechanics|J. Fluid Mech.
Journal of Computational Physics|J. Comput. Phys.
Journal of Chemical Physics|J. Chem. Phys.
Chemical Physics Letters|Chem. Phys. Lett.
Journal of Physical Chemistry A|J. Phys. Chem. A
Journal of Physical Chemistry B|J. Phys. Chem. B
Journal of the American Chemical Society|J. Am. Chem. Soc.
Angewandte Chemie International Edition|Angew. Chem. Int. Ed.
Chemical Reviews|Chem. Rev.
Accounts of Chemical Research|Acc. Chem. Res.
Inorganic Chemistry|Inorg. Chem.
Journal of Organic Chemistry|J. Org. Chem.
Organic Letters|Org. Lett.
Tetrahedron|Tetrahedron
Tetrahedron Letters|Tetrahedron Lett.
Canadian Journal of Chemistry|Can. J. Chem.
Journal of the Chemical Society, Chemical Communications|J. Chem. Soc. Chem. Commun.
Journal of the Chemical Society, Perkin Transactions 1|J. Chem. Soc., Perkin Trans. 1
Chemical Communications|Chem. Commun.
Dalton Transactions|Dalton Trans.
Helvetica Chimica Acta|Helv. Chim. Acta
Chemische Berichte|Chem. Ber.
Justus Liebigs Annalen der Chemie|Liebigs Ann. Chem.
Bulletin of the Chemical Society of Japan|Bull. Chem. Soc. Jpn.
Bulletin de la Société Chimique de France|Bull. Soc. Chim. Fr.
Collection of Czechoslovak Chemical Communications|Collect. Czech. Chem. Commun.
Macromolecules|Macromolecules
Langmuir|Langmuir
Analytical Chemistry|Anal. Chem.
Journal of Chromatography A|J. Chromatogr. A
Journal of Medicinal Chemistry|J. Med. Chem.
Bioorganic & Medicinal Chemistry Letters|Bioorg. Med. Chem. Lett.
Acta Crystallographica Section A|Acta Cryst. A
Acta Crystallographica|Acta Crystallogr.
Journal of Applied Crystallography|J. Appl. Cryst.
Carbon|Carbon
Nano Letters|Nano Lett.
ACS Nano|ACS Nano
Advanced Materials|Adv. Mater.
Nature Materials|Nat. Mater.
Nature|Nature
Nature Physics|Nat. Phys.
Nature Communications|Nat. Commun.
Nature Genetics|Nat. Genet.
Nature Methods|Nat. Methods
Nature Biotechnology|Nat. Biotechnol.
Nature Medicine|Nat. Med.
Nature Neuroscience|Nat. Neurosci.
Nature Reviews Cancer|Nat. Rev. Cancer
Science|Science
Science Advances|Sci. Adv.
Scientific Reports|Sci. Rep.
Proceedings of the National Academy of Sciences of the United States of America|Proc. Natl. Acad. Sci. U.S.A.
Proceedings of the National Academy of Sciences|PNAS
Philosophical Transactions of the Royal Society A|Phil. Trans. R. Soc. A
Philosophical Transactions of the Royal Society B|Philos. Trans. R. Soc. Lond. B Biol. Sci.
Proceedings of the Royal Society of London A|Proc. R. Soc. London, Ser. A
Proceedings of the Royal Society B|Proc. R. Soc. B
PLoS ONE|PLoS One
PLoS Biology|PLoS Biol.
PLOS Computational Biology|PLoS Comput. Biol.
eLife|eLife
Cell|Cell
Molecular Cell|Mol. Cell
Neuron|Neuron
Current Biology|Curr. Biol.
The EMBO Journal|EMBO J.
Genes & Development|Genes Dev.
Genome Research|Genome Res.
Genome Biology|Genome Biol.
Nucleic Acids Research|Nucleic Acids Res.
Bioinformatics|Bioinformatics
BMC Bioinformatics|BMC Bioinformatics
Journal of Biological Chemistry|J. Biol. Chem.
Journal of Molecular Biology|J. Mol. Biol.
Journal of Cell Biology|J. Cell Biol.
Biochemistry|Biochemistry
Biophysical Journal|Biophys. J.
FEBS Letters|FEBS Lett.
Biochimica et Biophysica Acta|Biochim. Biophys. Acta
Biochemical Journal|Biochem. J.
Journal of Bacteriology|J. Bacteriol.
Applied and Environmental Microbiology|Appl. Environ. Microbiol.
Journal of Virology|J. Virol.
Journal of Immunology|J. Immunol.
Journal of Experimental Medicine|J. Exp. Med.
Journal of Neuroscience|J. Neurosci.
Journal of Neurophysiology|J. Neurophysiol.
NeuroImage|Neuroimage
Brain Research|Brain Res.
Cancer Research|Cancer Res.
Journal of Clinical Oncology|J. Clin. Oncol.
Blood|Blood
Circulation|Circulation
The New England Journal of Medicine|N Engl J Med
The Lancet|Lancet
JAMA|JAMA
British Medical Journal|BMJ
Annals of Internal Medicine|Ann Intern Med
Journal of the American Medical Informatics Association|J Am Med Inform Assoc
American Journal of Public Health|Am J Public Health
American Journal of Epidemiology|Am. J. Epidemiol.
Pediatrics|Pediatrics
Journal of Bone and Joint Surgery|J Bone Joint Surg Am
Stroke|Stroke
Diabetes Care|Diabetes Care
Archives of General Psychiatry|Arch Gen Psychiatry
Acta Orthopaedica|Acta Orthop
Ecology|Ecology
Ecology Letters|Ecol. Lett.
Journal of Ecology|J. Ecol.
Oecologia|Oecologia
Oikos|Oikos
Evolution|Evolution
Systematic Biology|Syst. Biol.
Molecular Ecology|Mol. Ecol.
Biological Conservation|Biol. Conserv.
Taxon|Taxon
Annals of Botany|Ann. Bot.
American Journal of Botany|Am. J. Bot.
Plant Physiology|Plant Physiol.
The Plant Cell|Plant Cell
Soil Biology and Biochemistry|Soil Biol. Biochem.
Zoologica Scripta|Zool. Scr.
Marine Ecology Progress Series|Mar. Ecol. Prog. Ser.
Fisheries Research|Fish. Res.
Journal of Geophysical Research|J. Geophys. Res.
Geophysical Research Letters|Geophys. Res. Lett.
Geophysics|Geophysics
Geology|Geology
Journal of Climate|J. Climate
Monthly Weather Review|Mon. Wea. Rev.
Bulletin of the American Meteorological Society|Bull. Amer. Meteor. Soc.
Earth and Planetary Science Letters|Earth Planet. Sci. Lett.
Geochimica et Cosmochimica Acta|Geochim. Cosmochim. Acta
Water Resources Research|Water Resour. Res.
Quaternary Science Reviews|Quat. Sci. Rev.
Icarus|Icarus
The Astrophysical Journal|ApJ
The Astrophysical Journal Supplement Series|ApJS
The Astrophysical Journal Letters|ApJL
The Astronomical Journal|AJ
Astronomy and Astrophysics|A&A
Astronomy & Astrophysics|Astron. Astrophys.
Astrophysical Journal|Astrophys. J.
Monthly Notices of the Royal Astronomical Society|MNRAS
Monthly Notices of the Royal Astronomical Society|Mon. Not. R. Astron. Soc.
Publications of the Astronomical Society of the Pacific|PASP
Publications of the Astronomical Society of Japan|PASJ
Annual Review of Astronomy and Astrophysics|ARA&A
Astrophysics and Space Science|Ap&SS
Space Science Reviews|Space Sci. Rev.
Solar Physics|Sol. Phys.
Annals of Mathematics|Ann. of Math.
Inventiones Mathematicae|Invent. Math.
Journal of the American Mathematical Society|J. Amer. Math. Soc.
Transactions of the American Mathematical Society|Trans. Amer. Math. Soc.
Proceedings of the American Mathematical Society|Proc. Amer. Math. Soc.
Duke Mathematical Journal|Duke Math. J.
Mathematische Annalen|Math. Ann.
Journal of Algebra|J. Algebra
Advances in Mathematics|Adv. Math.
Acta Mathematica|Acta Math.
Pacific Journal of Mathematics|Pacific J. Math.
SIAM Journal on Computing|SIAM J. Comput.
SIAM Journal on Scientific Computing|SIAM J. Sci. Comput.
Annals of Statistics|Ann. Statist.
Journal of the American Statistical Association|J. Amer. Statist. Assoc.
Journal of the Royal Statistical Society, Series B|J. R. Stat. Soc. B
Biometrika|Biometrika
Biometrics|Biometrics
Econometrica|Econometrica
American Economic Review|Am. Econ. Rev.
Quarterly Journal of Economics|Q. J. Econ.
Journal of Political Economy|J. Polit. Econ.
Journal of Finance|J. Finance
Management Science|Manage. Sci.
Academy of Management Review|Acad. Manage. Rev.
Administrative Science Quarterly|Adm. Sci. Q.
American Political Science Review|Am. Polit. Sci. Rev.
American Sociological Review|Am. Sociol. Rev.
Psychological Review|Psychol. Rev.
Psychological Bulletin|Psychol. Bull.
Journal of Personality and Social Psychology|J. Pers. Soc. Psychol.
Child Development|Child Dev.
Cognition|Cognition
Journal of Memory and Language|J. Mem. Lang.
Language|Language
Journal of Pragmatics|J. Pragmat.
Science, Technology, & Human Values|Sci. Technol. Hum. Values
Big Data & Society|Big Data Soc.
New Media & Society|New Media Soc.
Revue française de sociologie|Rev. fr. sociol.
Annales. Histoire, Sciences Sociales|Annales HSS
Kölner Zeitschrift für Soziologie und Sozialpsychologie|KZfSS
Journal of the ACM|J. ACM
Communications of the ACM|Commun. ACM
ACM Computing Surveys|ACM Comput. Surv.
ACM Transactions on Graphics|ACM Trans. Graph.
ACM Transactions on Information Systems|ACM Trans. Inf. Syst.
Artificial Intelligence|Artif. Intell.
Journal of Artificial Intelligence Research|J. Artif. Intell. Res.
Machine Learning|Mach. Learn.
Journal of Machine Learning Research|J. Mach. Learn. Res.
Neural Networks|Neural Netw.
Neural Computation|Neural Comput.
Neurocomputing|Neurocomputing
Pattern Recognition|Pattern Recognit.
Computational Linguistics|Comput. Linguist.
Transactions of the Association for Computational Linguistics|TACL
IEEE Transactions on Pattern Analysis and Machine Intelligence|IEEE Trans. Pattern Anal. Mach. Intell.
IEEE Transactions on Neural Networks|IEEE Trans. Neural Netw.
IEEE Transactions on Information Theory|IEEE Trans. Inf. Theory
IEEE Transactions on Signal Processing|IEEE Trans. Signal Process.
IEEE Transactions on Image Processing|IEEE Trans. Image Process.
IEEE Transactions on Automatic Control|IEEE Trans. Automat. Contr.
IEEE Transactions on Robotics|IEEE Trans. Robot.
IEEE Transactions on Industrial Electronics|IEEE Trans. Ind. Electron.
IEEE Communications Magazine|IEEE Commun. Mag.
IEEE Access|IEEE Access
Proceedings of the IEEE|Proc. IEEE
Computers and Electronics in Agriculture|Comput. Electron. Agricult.
Journal of the American Society for Information Science and Technology|J. Am. Soc. Inf. Sci. Technol.
Journal of Documentation|J. Doc.
Scientometrics|Scientometrics
Information Processing & Management|Inf. Process. Manag.
Decision Support Systems|Decis. Support Syst.
European Journal of Operational Research|Eur. J. Oper. Res.
International Journal of Forecasting|Int. J. Forecast.
Journal of Hydrology|J. Hydrol.
Optics & Laser Technology|Opt. Laser Technol.
Optics Express|Opt. Express
Optics Letters|Opt. Lett.
Journal of the Optical Society of America A|J. Opt. Soc. Am. A
Applied Optics|Appl. Opt.
Journal of Sound and Vibration|J. Sound Vib.
International Journal of Heat and Mass Transfer|Int. J. Heat Mass Transf.
Journal of Materials Science|J. Mater. Sci.
Acta Materialia|Acta Mater.
Materials Science and Engineering A|Mater. Sci. Eng. A
Construction and Building Materials|Constr. Build. Mater.
Desalination|Desalination
Bioresource Technology|Bioresour. Technol.
Chemosphere|Chemosphere
Environmental Science & Technology|Environ. Sci. Technol.
Atmospheric Environment|Atmos. Environ.
Energy Policy|Energy Policy
Food Chemistry|Food Chem.
Journal of Agricultural and Food Chemistry|J. Agric. Food Chem.
Measurement Science and Technology|Meas. Sci. Technol.
Physics in Medicine and Biology|Phys. Med. Biol.
Inverse Problems|Inverse Probl.
Smart Materials and Structures|Smart Mater. Struct.
Nanotechnology|Nanotechnology
European Journal of Physics|Eur. J. Phys.
American Journal of Physics|Am. J. Phys.
""".strip().splitlines()

PUBLISHERS = """
Springer|Berlin
Springer-Verlag|Berlin, Heidelberg
Springer|New York
Springer|Cham
Springer|Dordrecht
Kluwer|Dordrecht
Elsevier|Amsterdam
North-Holland|Amsterdam
Academic Press|New York
Academic Press|London
Wiley|New York
John Wiley & Sons|Hoboken, NJ
Wiley-VCH|Weinheim
Cambridge University Press|Cambridge
Cambridge University Press|Cambridge, UK
Oxford University Press|Oxford
Oxford University Press|New York
Clarendon Press|Oxford
MIT Press|Cambridge, MA
The MIT Press|Cambridge, Massachusetts
Princeton University Press|Princeton
Princeton University Press|Princeton, NJ
University of Chicago Press|Chicago
University of California Press|Berkeley
Harvard University Press|Cambridge, MA
Yale University Press|New Haven
Stanford University Press|Stanford, CA
McGraw-Hill|New York
Addison-Wesley|Reading, MA
Prentice Hall|Englewood Cliffs, NJ
Morgan Kaufmann|San Francisco, CA
Benjamin|New York
W. H. Freeman|San Francisco
Plenum Press|New York
Dover|New York
World Scientific|Singapore
CRC Press|Boca Raton, FL
Taylor & Francis|London
Routledge|London
Sage|Thousand Oaks, CA
Blackwell|Oxford
Pergamon Press|Oxford
Birkhäuser|Basel
American Mathematical Society|Providence, RI
American Chemical Society|Washington, DC
American Psychological Association|Washington, DC
ASP|San Francisco, CA
IEEE|Piscataway, NJ
IEEE Press|New York
ACM|New York, NY, USA
ACM Press|New York
Association for Computing Machinery|New York, NY
Association for Computational Linguistics|Stroudsburg, PA
AAAI Press|Menlo Park, CA
PMLR|
Curran Associates, Inc.|Red Hook, NY
USENIX Association|Berkeley, CA
Nauka|Moscow
La Découverte|Paris
Hermann|Paris
Gauthier-Villars|Paris
Presses Universitaires de France|Paris
Seuil|Paris
Gallimard|Paris
Teubner|Leipzig
Vieweg|Braunschweig
de Gruyter|Berlin
Suhrkamp|Frankfurt am Main
Mohr Siebeck|Tübingen
Georg Thieme Verlag|Stuttgart
Il Mulino|Bologna
W. B. Saunders|Philadelphia
Lippincott Williams & Wilkins|Philadelphia
Mosby|St. Louis
Churchill Livingstone|Edinburgh
National Academies Press|Washington, DC
World Bank|Washington, DC
OECD Publishing|Paris
World Health Organization|Geneva
Edward Elgar|Cheltenham
Palgrave Macmillan|Basingstoke
Penguin|London
Random House|New York
Basic Books|New York
Duke University Press|Durham, NC
Johns Hopkins University Press|Baltimore
Sinauer|Sunderland, MA
Cold Spring Harbor Laboratory Press|Cold Spring Harbor, NY
Marcel Dekker|New York
Chapman & Hall|London
Institute of Physics|Bristol
Kodansha|Tokyo
Science Press|Beijing
""".strip().splitlines()

PLACES = """Paris|London|Berlin|Vienna|Seattle, WA|Hong Kong, China|Barcelona, Spain|Melbourne, Australia|Vancouver, BC, Canada|
Florence, Italy|Beijing|Kyoto, Japan|Osaka|Seoul, Korea|Singapore|New Orleans, Louisiana|Long Beach, CA, USA|Montréal, Canada|
Stockholm, Sweden|Geneva|Copenhagen, Denmark|Brussels, Belgium|Lisbon|Madrid|Prague|Budapest|Honolulu|
San Diego|San Jose, CA|Denver|Austin, TX|Atlanta, Georgia|
Portland, Oregon|Sydney|Edinburgh, Scotland|Dublin, Ireland|Athens, Greece|Rio de Janeiro, Brazil|Santiago, Chile|Cape Town|Virtual Event|
Online|Punta Cana, Dominican Republic|Doha, Qatar|Valencia, Spain|Uppsala, Sweden|Boulder|Moscow|Warsaw|Zürich|Munich, Germany""".replace(
    "\n", ""
).split("|")

CONFERENCES = """
Proceedings of the {n} Annual Meeting of the Association for Computational Linguistics|Proc. ACL|ACL
Proceedings of the {year} Conference on Empirical Methods in Natural Language Processing|Proc. EMNLP|EMNLP
Proceedings of the {n} International Conference on Machine Learning|Proc. {n} Int. Conf. Mach. Learn.|ICML
Advances in Neural Information Processing Systems|Adv. Neural Inf. Process. Syst.|NIPS
Advances in Neural Information Processing Systems {num}|NeurIPS|NeurIPS
International Conference on Learning Representations|Proc. ICLR|ICLR
IEEE Conference on Computer Vision and Pattern Recognition|Proc. IEEE Conf. Comput. Vis. Pattern Recognit. (CVPR)|CVPR
Proceedings of the IEEE International Conference on Computer Vision|Proc. IEEE Int. Conf. Comput. Vis.|ICCV
European Conference on Computer Vision|Proc. Eur. Conf. Comput. Vis.|ECCV
Proceedings of the AAAI Conference on Artificial Intelligence|Proc. AAAI|AAAI
Proceedings of the {n} International Joint Conference on Artificial Intelligence|Proc. IJCAI|IJCAI
Proceedings of the {n} ACM SIGKDD International Conference on Knowledge Discovery and Data Mining|Proc. ACM SIGKDD|KDD
Proceedings of the {n} International ACM SIGIR Conference on Research and Development in Information Retrieval|SIGIR ’{yy}|SIGIR
Proceedings of the International World Wide Web Conference|Proc. WWW|WWW
IEEE International Conference on Robotics and Automation|Proc. IEEE ICRA|ICRA
IEEE/RSJ International Conference on Intelligent Robots and Systems|Proc. IROS|IROS
Proceedings of the {year} CHI Conference on Human Factors in Computing Systems|CHI ’{yy}|CHI
Proceedings of the {year} ACM Conference on Fairness, Accountability, and Transparency|FAccT ’{yy}|FAT*
Proceedings of the Joint Conference on Digital Libraries|Proc. JCDL|JCDL
Proceedings of the {n} Symposium on Operating Systems Principles|SOSP|SOSP
USENIX Security Symposium|Proc. USENIX Security|USENIX Security
IEEE Symposium on Security and Privacy|Proc. IEEE S&P|S&P
IEEE International Conference on Acoustics, Speech and Signal Processing|Proc. ICASSP|ICASSP
Proceedings of the {n} International Cosmic Ray Conference|Proc. {n} ICRC|ICRC
Proceedings of the {n} Symposium on Theory of Computing|Proc. STOC|STOC
International Workshop on Semantic Evaluation|SemEval|SemEval
Proceedings of the International Conference on Language Resources and Evaluation|LREC {year}|LREC
Proceedings of the {n} International Conference on Computational Linguistics|COLING|COLING
Medical Image Computing and Computer-Assisted Intervention|Proc. MICCAI|MICCAI
Proceedings of the {n} International Conference on High Energy Physics|Proc. ICHEP|ICHEP
AIP Conference Proceedings|AIP Conf. Proc.|AIP Conf. Proc.
Conference on Learning Theory|Proc. COLT|COLT
""".strip().splitlines()

SERIES = [
    "Lecture Notes in Computer Science", "ASP Conf. Ser.", "LNCS", "Springer Series in Statistics", "Graduate Texts in Mathematics",
    "Lecture Notes in Mathematics", "Proceedings of Machine Learning Research", "IAU Symposium", "CEUR Workshop Proceedings",
    "NATO ASI Series", "Lecture Notes in Physics", "Methods in Molecular Biology", "Topics in Current Chemistry",
]  # fmt: skip

INSTITUTIONS = [
    "Stanford University", "Massachusetts Institute of Technology", "University of Oxford", "CERN", "University of California, Berkeley",
    "Carnegie Mellon University", "ETH Zürich", "Technische Universität München", "Université Paris-Sud", "NASA", "DESY",
    "University of Tokyo", "Tsinghua University", "University of Edinburgh", "Argonne National Laboratory", "NIST", "RAND Corporation",
    "Los Alamos National Laboratory", "Harvard University", "University of Illinois", "Cornell University", "OpenAI", "IBM Research",
]  # fmt: skip

COLLABORATIONS = [
    "ATLAS", "CMS", "ALICE", "LHCb", "BABAR", "Belle", "CDF", "D0", "ZEUS", "H1", "STAR", "PHENIX", "Planck", "LIGO Scientific",
    "Particle Data Group", "Super-Kamiokande", "IceCube", "H.E.S.S.", "Fermi-LAT", "OPAL", "DELPHI", "UA1", "Muon g-2", "XENON", "LSST",
]  # fmt: skip

SUBJECTS = [
    "spin dynamics", "catalytic hydrogenation", "heavy quark decays", "galaxy clusters", "soil respiration", "the early universe",
    "protein folding", "wave propagation", "quantum wells", "thin films", "economic growth", "public health", "labour markets",
    "forest ecosystems", "molecular clouds", "liquid crystals", "porphyrin complexes", "turbulent flow", "neutrino oscillations",
    "superconductivity", "gene expression", "bone mineral density", "social capital", "climate change", "visual attention",
    "the Standard Model", "carbon nanotubes", "stellar winds", "enzyme kinetics", "supersymmetry", "land use", "moral philosophy",
    "pion scattering", "steroid synthesis", "the interstellar medium", "mass spectrometry", "modern Europe", "urban planning",
]  # fmt: skip

FRAMES = [
    "{A}", "{A} and {b}", "The theory of {a}", "Introduction to {a}", "On the nature of {a}", "Measurement of {a} in {b}", "{A}: a review",
    "Observation of {a}", "Effects of {a} on {b}", "Principles of {A}", "A study of {a} by means of {b}", "Handbook of {A}",
    "The role of {a} in {b}", "{A} in {b}: new evidence", "Zur Theorie der {A}", "Recent advances in {a}", "Foundations of {A}",
    "Is {a} relevant to {b}?", "Evidence for {a} at high energy", "Elements of {A}", "Modelling {a} with {b}", "Progress in {a}",
]  # fmt: skip
