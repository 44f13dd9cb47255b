# An image that audits data which is mounted read-only, as a user without rights, without network:
#
#   docker build --tag standout .
#   docker run --rm --read-only --tmpfs /tmp --network none --user "$(id -u):$(id -g)" \
#       --volume "$PWD/data:/data:ro" --volume "$PWD/out:/out" \
#       standout audit /data/ratings.csv -o /out/report --fail-above 0.05
#
# hashes.txt is for linux-x86_64 and Python 3.11. On other processors, build with --build-arg HASHED= :
# constraints.txt then pins the versions, and hashes are not checked.

FROM python:3.11-slim AS build
ARG HASHED=1
# What Standout needs to run, and what builds it. tests/test_automation.py compares the first list with the metadata.
ARG NEEDED="altair attrs backports.zstd click jinja2 jsonschema jsonschema-specifications llvmlite markdown-it-py \
    MarkupSafe mdurl narwhals numba numpy packaging polars polars-runtime-32 Pygments RapidFuzz referencing rich \
    rpds-py scipy threadpoolctl typing_extensions vl-convert-python"
ARG BUILD="hatchling packaging pathspec pluggy trove-classifiers"
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv /opt/build && python -m venv /opt/standout
COPY constraints.txt hashes.txt ./
RUN if [ -n "$HASHED" ]; then \
        for name in $NEEDED; do grep -i "^$name==" hashes.txt || exit 1; done > needed.txt && \
        for name in $BUILD; do grep -i "^$name==" hashes.txt || exit 1; done > build.txt && \
        /opt/standout/bin/pip install --quiet --no-deps --require-hashes --only-binary :all: -r needed.txt && \
        /opt/build/bin/pip install --quiet --no-deps --require-hashes --only-binary :all: -r build.txt; \
    else \
        for name in $NEEDED; do grep -i "^$name==" constraints.txt || exit 1; done > needed.txt && \
        for name in $BUILD; do grep -i "^$name==" constraints.txt || exit 1; done > build.txt && \
        /opt/standout/bin/pip install --quiet --no-deps -r needed.txt && \
        /opt/build/bin/pip install --quiet --no-deps -r build.txt; \
    fi
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/build/bin/pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir /wheels . && \
    /opt/standout/bin/pip install --quiet --no-deps --no-index /wheels/*.whl && \
    /opt/standout/bin/pip check && \
    /opt/standout/bin/pip uninstall --quiet --yes pip setuptools

FROM python:3.11-slim
RUN useradd --uid 10001 --user-group --create-home --shell /usr/sbin/nologin standout && \
    install --directory --owner 10001 --group 10001 /out
COPY --from=build /opt/standout /opt/standout
# Compiled kernels are stored among the temporary files; mount a volume there to keep them.
ENV PATH=/opt/standout/bin:$PATH XDG_CACHE_HOME=/tmp/cache PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /out
ENTRYPOINT ["standout"]
CMD ["--help"]
