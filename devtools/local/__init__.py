"""Run the local services: S3, PostgreSQL, the embedded extractor and Airflow, installed from wheels, on 127.0.0.1."""

from devtools.local.services import Condition, Endpoints, Services, ServiceStatus
from devtools.local.state import default_state

__all__ = ["Condition", "Endpoints", "ServiceStatus", "Services", "default_state"]
