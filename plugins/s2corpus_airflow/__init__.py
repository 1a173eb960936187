"""The parts of s2corpus that Airflow's components import: plugin, timetable, trigger, alerts, and the page *Corpus releases*.

All modules are in this package, so that they cannot collide with the modules of other projects on a shared cluster.
"""
