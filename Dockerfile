# One image for every program of a grid. The build context is what scripts/compose-test lays out: the sources and the npm
# packages that they need at run time (Node among them), so that the build itself fetches nothing.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN useradd --create-home --uid 1000 mutirao \
 && install -d -o mutirao -g mutirao -m 0700 /home/mutirao/.mutirao /home/mutirao/.mutirao/providers /home/mutirao/.mutirao/providers/lab
COPY . /opt/mutirao
ENV PATH=/opt/mutirao/node_modules/.bin:/usr/local/bin:/usr/bin:/bin
USER mutirao
WORKDIR /home/mutirao
ENTRYPOINT ["mutirao", "run"]
