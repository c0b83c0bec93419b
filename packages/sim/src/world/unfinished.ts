import type { World } from './world.ts';

/** What is still open, running or held in a world; empty once everything has ended. */
export function findUnfinished(world: World): string[] {
  return [
    ...unfinishedAtHome(world),
    ...world.clusters.flatMap((site) => unfinishedAtCluster(site)),
    ...world.labs.flatMap((site) => unfinishedAtLab(site)),
  ];
}

function unfinishedAtHome({ user, broker, truth }: World): string[] {
  const left: string[] = [];
  if (user.isWaiting) left.push('the user waits for an answer');
  if (truth.runningCount > 0) left.push(`${truth.runningCount} tasks run`);
  if (broker.current === undefined) return [...left, 'the broker is down'];
  const { openJobs, replicas, successes } = broker.current.process.state;
  for (const { jobId, taskCount, finished, failed, cancelled } of openJobs.values()) {
    left.push(
      `job ${jobId} is open with ${finished.size} of ${taskCount} finished, ${failed.size} failed, ` +
        `${cancelled.size} cancelled`,
    );
  }
  if (replicas.size > 0) left.push(`the broker has ${replicas.size} replicas`);
  if (successes.size > 0) left.push(`the broker settles ${successes.size} results`);
  return left;
}

function unfinishedAtCluster({ cluster, provider, agents }: World['clusters'][number]): string[] {
  const left: string[] = [];
  const held = cluster.current?.process.state.livingCounts.get('user') ?? 0;
  if (cluster.current === undefined) left.push(`${cluster.name} is down`);
  if (held > 0) left.push(`${cluster.name} has ${held} requests of its provider`);
  if (agents.size > 0) left.push(`${agents.size} agents live in allocations of ${cluster.name}`);
  return [...left, ...unfinishedAtProvider(provider)];
}

function unfinishedAtLab({ provider, agents }: World['labs'][number]): string[] {
  const holding = agents.filter(
    ({ current }) => current !== undefined && current.state.replicas.size + current.state.endedIds.size > 0,
  );
  return [...holding.map(({ name }) => `${name} holds replicas`), ...unfinishedAtProvider(provider)];
}

const over: ReadonlySet<string> = new Set(['ended', 'rejected', 'vanished']);

function unfinishedAtProvider({ name, current }: World['labs'][number]['provider']): string[] {
  if (current === undefined) return [`provider ${name} is down`];
  const open = [...current.process.state.requests.values()].filter(({ status }) => !over.has(status));
  const keeping = [...current.process.state.kept.values()].map(
    ({ facts: { machineId } }) => `provider ${name} keeps reports of ${machineId}`,
  );
  return [...open.map(({ requestId, status }) => `request ${requestId} of ${name} is ${status}`), ...keeping];
}
