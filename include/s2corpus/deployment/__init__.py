"""Set-up of servers that run the pipeline: Airflow's pools and connections, the keys and certificates of S3, task slots."""
