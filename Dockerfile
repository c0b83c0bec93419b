# The images of a grid of separate hosts. Targets: `nats`; `lab`, a host with sshd and nothing of ours; `slurm`, front-end and nodes of a cluster, with
# nothing of ours; `home`, where the program is. scripts/pack makes the program first; nothing is compiled here.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS base
# The same user everywhere, as on the machines of one cluster. "*" is no password, but does not lock the account for keys.
RUN useradd --create-home --uid 1000 --shell /bin/bash --password '*' mutirao
WORKDIR /home/mutirao

FROM base AS nats
RUN apt-get update \
 && apt-get install -y --no-install-recommends nats-server \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* \
 && install -d -o mutirao -g mutirao /home/mutirao/jetstream
USER mutirao
ENTRYPOINT ["nats-server", "--jetstream", "--store_dir", "/home/mutirao/jetstream"]

FROM base AS client
RUN apt-get update \
 && apt-get install -y --no-install-recommends openssh-client procps \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
COPY test/compose/hosts/run-units /usr/local/sbin/

FROM client AS home
COPY --chown=mutirao:mutirao examples/deploy deploy
COPY --chown=mutirao:mutirao dist/mutirao .local/bin/mutirao
ENV PATH=/home/mutirao/.local/bin:/usr/local/bin:/usr/bin:/bin
USER mutirao
ENTRYPOINT ["/usr/local/sbin/run-units"]

FROM client AS lab
RUN apt-get update \
 && apt-get install -y --no-install-recommends openssh-server \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /etc/ssh/ssh_host_*
COPY test/compose/hosts/sshd_config /etc/ssh/sshd_config
COPY test/compose/hosts/lab /usr/local/sbin/
# sshd has to be root in order to become the user who logs in. What she starts runs as her.
ENTRYPOINT ["/usr/local/sbin/lab"]

FROM lab AS slurm
RUN apt-get update \
 && apt-get install -y --no-install-recommends munge slurm-wlm \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /etc/munge/munge.key \
 && install -d -o munge -g munge /run/munge /var/log/munge \
 && install -d -o slurm -g slurm /var/lib/slurm /var/log/slurm
COPY test/compose/hosts/slurm.conf /etc/slurm/slurm.conf
COPY test/compose/hosts/front-end test/compose/hosts/node /usr/local/sbin/
# slurmd has to be root in order to become the user of each job; slurmctld and munged give it up for users of their own.
ENTRYPOINT ["/usr/local/sbin/node"]
