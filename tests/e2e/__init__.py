"""Run releases from start to end, with Airflow, Spark and the wheels."""
