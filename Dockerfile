# An image of the program: `run --watch`, or any other command. It holds no league file, key or token: mount a folder at
# /league that the container's user may write. docs/how-to/operations.md has the steps, compose.yaml a whole service.
#
#   docker build --tag league-agents .
#   docker run --rm league-agents run --single-game

FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY requirements.txt requirements-dev.txt ./
# The locked packages with their hashes, and of those that are locked for developers what the extras postgres and metrics
# need; pip check, below, finds what that leaves out.
RUN python -m venv /opt/league-agents \
    && awk '/^[A-Za-z0-9]/ { is_wanted = /^(prometheus-client|psycopg)/ } is_wanted' requirements-dev.txt > extras.txt \
    && /opt/league-agents/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check --no-deps \
        --require-hashes --only-binary :all: --requirement requirements.txt --requirement extras.txt
COPY . .
# Google's client brings the descriptions of all of its services, 100 MB; one of them is used.
RUN /opt/league-agents/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check --no-deps \
        --no-build-isolation '.[web,postgres,metrics]' \
    && /opt/league-agents/bin/pip check \
    && find /opt/league-agents/lib -path '*/discovery_cache/documents/*' ! -name 'gmail.v1.json' -delete \
    && /opt/league-agents/bin/pip uninstall --yes hatchling editables pathspec pluggy trove-classifiers pip setuptools \
    && /opt/league-agents/bin/python -m compileall -q -j 0 /opt/league-agents/lib

FROM python:3.11-slim-bookworm
COPY --from=build /opt/league-agents /opt/league-agents
ENV PATH=/opt/league-agents/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    LEAGUE_AGENTS_DATA=/league/data \
    LEAGUE_AGENTS_CACHE=/tmp/league-agents
# Mounted: the league file, tokens, journals. The root may be read-only; besides /league only /tmp is written to.
RUN install -d -m 700 -o 10001 -g 10001 /league
WORKDIR /league
USER 10001:10001
VOLUME ["/league"]
# Well while every mailbox is read: `metrics: 127.0.0.1:9464` in the league file serves /healthz inside the container.
HEALTHCHECK --interval=30s --timeout=10s --start-period=2m --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:9464/healthz', timeout=8)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["league-agents"]
CMD ["run", "--watch"]
