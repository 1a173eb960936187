"""Check the pages in Airflow's UI."""
