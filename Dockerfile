# The image of every Airflow component, for compose and plain Docker. With Astro, use its runtime:
#   docker build --build-arg BASE=astrocrpublic.azurecr.io/runtime:3.3-1 .
ARG BASE=python:3.11.16-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b
FROM ${BASE}
USER root
WORKDIR /usr/local/airflow
COPY packages.txt requirements-fab.txt deploy/uv.txt ./
RUN apt-get update \
 && xargs -a packages.txt apt-get install -y --no-install-recommends \
 && rm -rf /var/lib/apt/lists/*
# With bytecode: the user below may not write it, so that every process would compile what it imports, each time.
RUN python -m pip install --no-cache-dir --require-hashes -r uv.txt \
 && uv pip install --system --no-cache --compile-bytecode --require-hashes -r requirements-fab.txt
COPY pyproject.toml README.md LICENSE airflow_settings.yaml ./
COPY include include
COPY sql sql
COPY dags dags
COPY plugins plugins
COPY deploy deploy
ENV PYTHONPATH=/usr/local/airflow/include AIRFLOW_HOME=/usr/local/airflow PYTHONUNBUFFERED=1
RUN useradd --system --create-home --uid 50000 airflow \
 && mkdir -p logs auth kernels /scratch /data /etc/seaweedfs \
 && chown -R airflow:airflow logs auth kernels /scratch /data /etc/seaweedfs /usr/local/airflow
USER airflow
# The kernels are compiled for every processor of a kind, so that no worker spends its first minute on it: x86-64-v3 are those since 2013
# (AVX2); for others --build-arg PROCESSOR=generic.
ARG PROCESSOR=x86-64-v3
ENV NUMBA_CPU_NAME=${PROCESSOR} NUMBA_CPU_FEATURES= S2CORPUS_KERNELS=/usr/local/airflow/kernels
RUN --mount=type=bind,source=devtools,target=/usr/local/airflow/devtools \
    python -m compileall -q include plugins && NUMBA_CACHE_DIR=$S2CORPUS_KERNELS python -m devtools.local.kernels
