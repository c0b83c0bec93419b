import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueuedRequest, QueueListing } from '@mutirao/core/messages';
import type { AllocationOrder, ResourceManager } from '@mutirao/managers';
import { until } from './until.ts';

/** A resource manager under test, with a resource that nobody else uses. */
export interface ManagerUnderTest {
  readonly manager: ResourceManager;
  /** Opens the resource once more, as a provider does that has been restarted. */
  readonly reopen: () => ResourceManager;
  readonly userId: string;
  /** All processors of the resource, 4 or more. */
  readonly processors: number;
  /** Empty; seen by what allocations run. */
  readonly folder: string;
}

/** The part of AVA's `t` that is needed here. */
export interface ManagerAssertions {
  is(actual: unknown, expected: unknown, message?: string): unknown;
  true(actual: boolean, message?: string): unknown;
  deepEqual(actual: unknown, expected: unknown, message?: string): unknown;
  regex(actual: string, expected: RegExp, message?: string): unknown;
  throwsAsync(thrower: Promise<unknown>, expected: { readonly code: string }): Promise<unknown>;
}

/** One thing that every resource manager must do. */
export interface ManagerCase {
  /** A sentence. */
  readonly title: string;
  check(t: ManagerAssertions, under: ManagerUnderTest): Promise<void>;
}

/**
 * What the port promises, of any manager; one resource after another is fine, several cases at a time on one are not.
 */
export const resourceManagerCases: readonly ManagerCase[] = [
  { title: 'the limits are those of a resource that can be used', check: hasLimits },
  {
    title:
      'an order runs its command once for each processor, with its environment, and is listed from beginning to end',
    check: runsCommand,
  },
  { title: 'an order that is repeated under its key is the request that is there already', check: isIdempotent },
  { title: 'what cannot start yet waits, in the order of arrival, and can be taken out', check: queues },
  {
    title: 'a request that runs is ended by its release, and what is unknown or over is released without a word',
    check: releases,
  },
  {
    title: 'a request is listed by its key after a restart of the provider, which can release it',
    check: outlivesProvider,
  },
  { title: 'a request beyond the limits is refused by its code, and leaves nothing behind', check: refuses },
  { title: 'the end of a command and a command that cannot be started have different reasons', check: reportsEnds },
  { title: 'at its walltime a request ends, and what its command started ends with it', check: keepsWalltime },
];

async function hasLimits(t: ManagerAssertions, { manager, userId, processors }: ManagerUnderTest): Promise<void> {
  const limits = await manager.limits(userId);
  t.is(limits.processors, processors);
  t.true(limits.widthMax >= 1 && limits.widthMax <= processors);
  t.true(limits.requestsMax >= 2, `requestsMax ${limits.requestsMax}`);
  t.true(limits.walltimeMax >= limits.walltimeGranularity && limits.walltimeGranularity >= 1);
  t.deepEqual(
    (await manager.queue(0)).requests.filter(({ status }) => status !== 'ended'),
    [],
  );
}

async function runsCommand(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const { manager, folder } = under;
  const awkward = 'a b\'c"d$e\nf';
  // Each process says its place, how many there are, a word and a variable that have to arrive as they are, and when
  // the walltime ends.
  const shell =
    'printf "%s|%s|%s|%s" "$MUTIRAO_PROCESS_COUNT" "$1" "$AWKWARD" "$MUTIRAO_WALLTIME_END_UNIX_MS" ' +
    '>"$FOLDER/said.$MUTIRAO_PROCESS_INDEX"; while [ ! -e "$FOLDER/end" ]; do sleep 0.1; done';
  const id = await manager.allocate({
    ...orderOf(under, 'runs', 3),
    command: ['/bin/sh', '-c', shell, 'sh', awkward],
    environment: { FOLDER: folder, AWKWARD: awkward },
  });
  const running = await seen(under, 'runs', ({ status }) => status === 'running');
  t.is(running.managerRequestId, id);
  t.is(running.width, 3);
  t.true(running.walltime >= 60_000);
  const listing = await manager.queue(10);
  t.true(
    running.startsAt > 0 && running.startsAt <= listing.at + 2_000,
    `starts at ${running.startsAt}, listed at ${listing.at}`,
  );
  t.is(listing.processorsFree, under.processors - 3);
  await until(
    () => readdirSync(folder).filter((name) => name.startsWith('said.')).length === 3,
    'three processes speak',
  );
  for (const index of [0, 1, 2]) {
    await until(
      () =>
        existsSync(join(folder, `said.${index}`)) &&
        readFileSync(join(folder, `said.${index}`), 'utf8').split('|').length === 4,
      `process ${index} speaks`,
    );
    const [count, word, variable, end] = readFileSync(join(folder, `said.${index}`), 'utf8').split('|');
    t.deepEqual({ count, word, variable }, { count: '3', word: awkward, variable: awkward });
    t.true(
      end === '' || Math.abs(Number(end) - running.startsAt - running.walltime) < 10_000,
      `the end ${end} of a start at ${running.startsAt}`,
    );
  }
  writeFileSync(join(folder, 'end'), '');
  await gone(under, 'runs');
  t.is((await manager.queue(10)).processorsFree, under.processors);
}

async function isIdempotent(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const { manager } = under;
  const order = orderOf(under, 'twice', 1);
  const id = await manager.allocate(order);
  t.is(await manager.allocate(order), id);
  t.is((await listed(under, 'twice')).length, 1);
  await manager.release(id);
  await gone(under, 'twice');
}

async function queues(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const { manager, processors } = under;
  const whole = await manager.allocate(orderOf(under, 'whole', processors));
  await seen(under, 'whole', ({ status }) => status === 'running');
  const next = await manager.allocate(orderOf(under, 'next', processors));
  const last = await manager.allocate(orderOf(under, 'last', 1));
  const { requests, processorsFree } = await manager.queue(0);
  t.is(processorsFree, 0);
  t.deepEqual(
    requests.map(({ managerRequestId, status, width }) => [managerRequestId, status, width]),
    [
      [whole, 'running', processors],
      [next, 'queued', processors],
      [last, 'queued', 1],
    ],
  );
  await manager.release(next);
  await gone(under, 'next');
  await Promise.all([manager.release(whole), manager.release(last)]);
  await gone(under, 'whole');
  await gone(under, 'last');
}

async function releases(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const { manager, folder } = under;
  const id = await manager.allocate({
    ...orderOf(under, 'released', 2),
    command: ['/bin/sh', '-c', 'echo $$ >"$FOLDER/pid.$MUTIRAO_PROCESS_INDEX"; exec sleep 300'],
    environment: { FOLDER: folder },
  });
  await until(
    () =>
      ['pid.0', 'pid.1'].every(
        (name) => existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8') !== '',
      ),
    'both processes run',
  );
  const processes = ['pid.0', 'pid.1'].map((name) => readFileSync(join(folder, name), 'utf8').trim());
  await manager.release(id);
  await gone(under, 'released');
  await until(() => processes.every((pid) => !existsSync(`/proc/${pid}`)), 'its processes end');
  await manager.release(id);
  await manager.release('987654');
  await manager.release('no such thing');
  t.deepEqual(
    (await manager.queue(10)).requests.filter(({ status }) => status !== 'ended'),
    [],
  );
}

async function outlivesProvider(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const id = await under.manager.allocate(orderOf(under, 'restarted', 2));
  const manager = under.reopen();
  const reopened = { ...under, manager };
  t.deepEqual(
    (await listed(reopened, 'restarted')).map(({ managerRequestId, width }) => [managerRequestId, width]),
    [[id, 2]],
  );
  await manager.release(id);
  await gone(reopened, 'restarted');
}

async function refuses(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const { manager, userId, processors } = under;
  const { walltimeMax, walltimeGranularity } = await manager.limits(userId);
  await t.throwsAsync(manager.allocate(orderOf(under, 'wide', processors + 1)), { code: 'MUT_WIDTH_MAX' });
  // A week stands for no limit, as in OAR.
  if (walltimeMax < week) {
    const order = { ...orderOf(under, 'long', 1), walltime: walltimeMax + walltimeGranularity };
    await t.throwsAsync(manager.allocate(order), { code: 'MUT_WALLTIME_MAX' });
  }
  t.deepEqual([...(await listed(under, 'wide')), ...(await listed(under, 'long'))], []);
}

async function reportsEnds(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const end = async (key: string, program: string): Promise<QueuedRequest> => {
    await under.manager.allocate({ ...orderOf(under, key, 1), command: [program] });
    return await seen(under, key, ({ status }) => status === 'ended');
  };
  const done = await end('done', '/bin/true');
  t.regex(done.endReason, /^(?:|COMPLETED|status 0)$/);
  t.true(done.startsAt > 0 && done.endedAt >= done.startsAt, `it ran from ${done.startsAt} to ${done.endedAt}`);
  t.regex((await end('failed', '/no/such/program')).endReason, /\/no\/such\/program/);
}

async function keepsWalltime(t: ManagerAssertions, under: ManagerUnderTest): Promise<void> {
  const { manager, userId, folder } = under;
  const walltime = Math.max(2_000, (await manager.limits(userId)).walltimeGranularity);
  await manager.allocate({
    ...orderOf(under, 'overran', 2),
    walltime,
    command: ['/bin/sh', '-c', 'sleep 300 & echo $! >"$FOLDER/child.$MUTIRAO_PROCESS_INDEX"; wait'],
    environment: { FOLDER: folder },
  });
  const running = await seen(under, 'overran', ({ status }) => status === 'running');
  await gone(under, 'overran');
  const children = readdirSync(folder).filter((name) => name.startsWith('child.'));
  t.true(children.length > 0, 'something has run');
  const pids = children.map((name) => readFileSync(join(folder, name), 'utf8').trim());
  await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)), 'its processes end');
  const lasted = Date.now() - running.startsAt;
  t.true(lasted >= walltime - 1_000, `it lasted ${lasted} ms of ${walltime} ms`);
}

const week = 7 * 86_400_000;

function orderOf({ userId }: ManagerUnderTest, clientRequestId: string, width: number): AllocationOrder {
  return {
    userId,
    width,
    walltime: 60_000,
    command: ['/bin/sleep', '300'],
    environment: {},
    workingDirectory: '',
    clientRequestId,
  };
}

async function listed({ manager }: ManagerUnderTest, key: string): Promise<QueueListing['requests']> {
  return (await manager.queue(100)).requests.filter(({ clientRequestId }) => clientRequestId === key);
}

/** The request as it is listed once that holds. */
async function seen(
  under: ManagerUnderTest,
  key: string,
  holds: (request: QueuedRequest) => boolean,
): Promise<QueuedRequest> {
  let found: QueuedRequest | undefined;
  await until(async () => {
    found = (await listed(under, key)).find(holds);
    return found !== undefined;
  }, `request ${key} is listed`);
  if (found === undefined) throw new Error('unreachable');
  return found;
}

/** Resolves when the request is over: listed as ended, with an end, or no longer listed. */
async function gone(under: ManagerUnderTest, key: string): Promise<void> {
  await until(
    async () => (await listed(under, key)).every(({ status, endedAt }) => status === 'ended' && endedAt > 0),
    `request ${key} is over`,
  );
}
