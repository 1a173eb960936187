# Two images: `airflow` (all Airflow components, preparation of the S3 server, embedded extractor) and `spark`.
#   docker build --target airflow -t s2corpus-airflow .
#   docker build --target spark -t s2corpus-spark .
# The images do not contain tools that only the build needs (uv, the sample's typesetter).
ARG BASE=python:3.11.16-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

FROM ${BASE} AS base
USER root
COPY packages.txt /
RUN apt-get update \
 && xargs -a /packages.txt apt-get install -y --no-install-recommends \
 && rm -rf /var/lib/apt/lists/* /packages.txt
# Use group 0, as Airflow's official image does: the chart runs user 50000 with this group.
RUN useradd --uid 50000 --gid 0 --create-home airflow
WORKDIR /usr/local/airflow
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/usr/local/airflow/include PYTHONUNBUFFERED=1

FROM base AS uv
COPY deploy/uv.txt /
RUN python -m pip install --no-cache-dir --require-hashes -r /uv.txt

FROM base AS airflow-packages
# Spark runs in other containers: its client needs none of Spark's 460 MB of jars.
RUN --mount=from=uv,source=/usr/local/bin/uv,target=/tmp/uv \
    --mount=source=deploy/install-packages,target=/tmp/install-packages \
    --mount=source=requirements-image.txt,target=/tmp/requirements.txt \
    sh /tmp/install-packages /tmp/uv /tmp/requirements.txt pyspark/jars

FROM base AS spark-packages
# Spark needs no pandoc, because clustering converts no LaTeX.
RUN --mount=from=uv,source=/usr/local/bin/uv,target=/tmp/uv \
    --mount=source=deploy/install-packages,target=/tmp/install-packages \
    --mount=source=requirements-spark.txt,target=/tmp/requirements.txt \
    sh /tmp/install-packages /tmp/uv /tmp/requirements.txt pypandoc/files

# The code, and its kernels, compiled for all processors of one kind, so that no worker compiles them in its first minute. x86-64-v3 are
# processors since 2013 (AVX2). For other processors, use --build-arg PROCESSOR=generic.
FROM airflow-packages AS code
RUN --mount=from=uv,source=/usr/local/bin/uv,target=/tmp/uv \
    --mount=source=requirements.txt,target=/tmp/requirements.txt \
    /tmp/uv pip install --no-cache --python /opt/venv --require-hashes -r /tmp/requirements.txt
COPY airflow_settings.yaml ./
COPY include include
COPY sql sql
COPY dags dags
COPY plugins plugins
COPY deploy deploy
ARG PROCESSOR=x86-64-v3
ENV NUMBA_CPU_NAME=${PROCESSOR} NUMBA_CPU_FEATURES=
# Every user may read the code, regardless of the umask of the clone. A kernel is valid for the modification time of its source file. With
# one fixed time, kernels of an earlier build remain valid.
RUN --mount=type=cache,target=/var/cache/kernels \
    --mount=source=devtools,target=/usr/local/airflow/devtools \
    set -- include sql dags plugins deploy airflow_settings.yaml \
 && chmod -R u=rwX,go=rX "$@" \
 && find "$@" -exec touch -h -d 2000-01-01T00:00:00Z {} + \
 && python -m compileall -q include plugins \
 && export NUMBA_CACHE_DIR=/var/cache/kernels \
 && python -m devtools.local.kernels \
 && mkdir kernels \
 && cp -a "$(python -c 'from s2corpus.compiled import FOLDER; print(FOLDER)')" kernels/

FROM spark-packages AS spark
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
 && rm -rf /var/lib/apt/lists/*
COPY --from=code /usr/local/airflow/include include
COPY --from=code /usr/local/airflow/sql sql
COPY --from=code /usr/local/airflow/kernels kernels
RUN install -d -o airflow -g 0 -m 0775 /scratch
ARG PROCESSOR=x86-64-v3
ENV NUMBA_CPU_NAME=${PROCESSOR} NUMBA_CPU_FEATURES= S2CORPUS_KERNELS=/usr/local/airflow/kernels
USER 50000:0
ENTRYPOINT ["tini", "--"]

FROM airflow-packages AS airflow
COPY --from=code /usr/local/airflow/deploy/image /
COPY --from=code /usr/local/airflow/airflow_settings.yaml ./
COPY --from=code /usr/local/airflow/include include
COPY --from=code /usr/local/airflow/sql sql
COPY --from=code /usr/local/airflow/dags dags
COPY --from=code /usr/local/airflow/plugins plugins
COPY --from=code /usr/local/airflow/deploy deploy
COPY --from=code /usr/local/airflow/kernels kernels
# A new volume gets the owner and mode of the folder that it hides. Airflow writes its own files into its home. PySpark finds its own
# folder by its folder of jars, which is empty.
RUN install -d -o airflow -g 0 -m 0775 logs auth /scratch /alto /data /etc/seaweedfs \
 && chown airflow:0 . && chmod 0775 . \
 && printf '#!/bin/sh\nexec python -m s2corpus "$@"\n' > /usr/local/bin/corpus \
 && chmod 0755 /usr/local/bin/corpus \
 && cd /opt/venv/lib/python3*/site-packages/pyspark && mkdir jars
ARG PROCESSOR=x86-64-v3
ENV AIRFLOW_HOME=/usr/local/airflow NUMBA_CPU_NAME=${PROCESSOR} NUMBA_CPU_FEATURES= S2CORPUS_KERNELS=/usr/local/airflow/kernels
USER 50000:0
ENTRYPOINT ["tini", "--", "/entrypoint"]
CMD ["airflow", "version"]
