// Limits that change while requests wait: the provider's machine beside a cluster that keeps its own, for days of
// virtual time.
import test from 'ava';
import {
  isPending,
  type ProviderChange,
  type ProviderCommand,
  type ProviderInput,
} from '@mutirao/core/machines/provider';
import type { QueuedRequest, ResourceLimits } from '@mutirao/core/messages';
import { heuristicNames } from '@mutirao/core/requests';
import { invariant } from '@mutirao/core/shared';
import { ProviderHarness } from '@mutirao/testkit';

const minute = 60_000;
const hour = 60 * minute;
const large: ResourceLimits = {
  processors: 16,
  requestsMax: 3,
  widthMax: 16,
  walltimeMax: 12 * hour,
  walltimeGranularity: minute,
};

/** What limits become while requests wait that were asked for under the large ones. */
const smaller: readonly Partial<ResourceLimits>[] = [
  { widthMax: 4 },
  { widthMax: 1 },
  { walltimeMax: hour },
  { walltimeMax: minute },
  { walltimeMax: minute / 2 },
  { requestsMax: 2 },
  { requestsMax: 1 },
  { requestsMax: 0 },
  { processors: 4 },
  { processors: 4, widthMax: 4 },
  { widthMax: 2, walltimeMax: hour, requestsMax: 1, processors: 8 },
  { widthMax: 2, walltimeMax: hour, requestsMax: 0 },
];

/**
 * A cluster that takes what is within its limits and lists its queue every half an hour, limits first; others hold it.
 */
class Site {
  readonly harness: ProviderHarness;
  limits = large;
  submissions = 0;
  withdrawals = 0;
  readonly #entries = new Map<string, QueuedRequest>();
  #receivedCount = 0;

  constructor(heuristic: string) {
    this.harness = new ProviderHarness({ heuristic });
    this.harness.now = hour;
    this.hold(large.processors, 200 * hour);
    this.harness.perform(['start', 'connect b']);
  }

  /** Others hold so many processors from now on, for so long, and no more. */
  hold(width: number, walltime: number): void {
    const { now } = this.harness;
    for (const [id, { userId }] of this.#entries) if (userId === 'local') this.#entries.delete(id);
    if (width > 0)
      this.#entries.set(`l${now}`, {
        ...anEntry,
        managerRequestId: `l${now}`,
        width,
        walltime,
        status: 'running',
        startsAt: now,
      });
  }

  want(tasks: number): void {
    this.#deliver({
      kind: 'DemandChanged',
      brokerId: 'b',
      demand: {
        pendingTasks: tasks,
        processors: 1,
        taskTimeMax: undefined,
        taskTimeMean: undefined,
        deadline: undefined,
        userId: 'ana',
      },
    });
  }

  /**
   * Time passes; nothing happens but that limits and queue are read, what runs ends with its walltime, and what fits
   * starts in the order of arrival.
   */
  pass(time: number): void {
    const until = this.harness.now + time;
    while (this.harness.now < until) {
      this.harness.now += 30 * minute;
      this.#endAndStart();
      this.#deliver(
        { kind: 'TimerFired' },
        { kind: 'LimitsRead', limits: this.limits },
        {
          kind: 'QueueListed',
          listing: { at: this.harness.now, processorsFree: this.#free(), requests: [...this.#entries.values()] },
          readAt: this.harness.now,
        },
      );
    }
  }

  get waiting(): readonly QueuedRequest[] {
    return [...this.#entries.values()].filter(({ status }) => status === 'queued');
  }

  #free(): number {
    return Math.max(
      0,
      [...this.#entries.values()].reduce(
        (free, { status, width }) => (status === 'running' ? free - width : free),
        this.limits.processors,
      ),
    );
  }

  #endAndStart(): void {
    const { now } = this.harness;
    for (const [id, entry] of this.#entries) {
      if (entry.status === 'running' && entry.startsAt + entry.walltime <= now)
        this.#entries.set(id, { ...entry, status: 'ended', endedAt: now });
    }
    for (const entry of this.waiting) {
      if (entry.width > this.#free()) return;
      this.#entries.set(entry.managerRequestId, { ...entry, status: 'running', startsAt: now });
    }
  }

  #deliver(...inputs: ProviderInput[]): void {
    const commands = this.harness.step(inputs);
    for (const change of this.harness.journal.slice(this.#receivedCount)) this.#receive(change);
    this.#receivedCount = this.harness.journal.length;
    for (const command of commands) this.#carryOut(command);
  }

  #receive(change: ProviderChange): void {
    if (change.kind === 'RequestReleasing') this.withdrawals += 1;
    if (change.kind !== 'RequestDrafted') return;
    this.submissions += 1;
    const { requestId, width, walltime } = change;
    const { widthMax, walltimeMax, walltimeGranularity, requestsMax } = this.limits;
    const pendingCount = [...this.harness.state.requests.values()].filter(isPending).length;
    const isWithin =
      width >= 1 &&
      width <= widthMax &&
      walltime >= 1 &&
      walltime <= walltimeMax &&
      walltime % walltimeGranularity === 0 &&
      pendingCount <= requestsMax;
    if (!isWithin)
      throw new Error(
        `${requestId} asks for ${width} processors for ${walltime} ms as number ${pendingCount} of ` +
          `${requestsMax}; the resource gives ${widthMax} for ${walltimeMax} ms`,
      );
  }

  #carryOut(command: ProviderCommand): void {
    if (command.kind === 'SubmitRequest') {
      const { requestId, clientRequestId, userId, width, walltime } = command;
      const managerRequestId = `m-${requestId}`;
      this.#entries.set(managerRequestId, {
        ...anEntry,
        managerRequestId,
        clientRequestId,
        userId,
        width,
        walltime,
        submittedAt: this.harness.now,
      });
      this.#deliver({ kind: 'SubmitAccepted', requestId, managerRequestId });
    } else if (command.kind === 'ReleaseRequest') {
      const entry = this.#entries.get(command.managerRequestId);
      if (entry !== undefined)
        this.#entries.set(command.managerRequestId, { ...entry, status: 'ended', endedAt: this.harness.now });
      this.#deliver({ kind: 'ReleaseDone', requestId: command.requestId });
    }
  }
}

const anEntry: QueuedRequest = {
  managerRequestId: '',
  clientRequestId: '',
  userId: 'local',
  width: 1,
  walltime: 1,
  status: 'queued',
  submittedAt: 1,
  startsAt: 0,
  endedAt: 0,
  endReason: '',
};

/** One whose every slot has a request that waits. */
function aSiteWithWaiting(heuristic: string): Site {
  const site = new Site(heuristic);
  site.want(100);
  site.pass(2 * hour);
  invariant(site.waiting.length === large.requestsMax, `${site.waiting.length} requests of ${heuristic} wait`);
  return site;
}

/** What is asked for and given up while something happens. */
function countIn(site: Site, happen: () => void): { readonly submissions: number; readonly withdrawals: number } {
  const { submissions, withdrawals } = site;
  happen();
  return { submissions: site.submissions - submissions, withdrawals: site.withdrawals - withdrawals };
}

for (const heuristic of heuristicNames) {
  test(`limits that become smaller while requests of ${heuristic} wait are kept, and nothing is asked for and given up again and again`, (t) => {
    for (const change of smaller) {
      const site = aSiteWithWaiting(heuristic);
      site.limits = { ...large, ...change };
      const first = countIn(site, () => {
        site.pass(hour);
      });
      t.true(
        first.withdrawals <= large.requestsMax && first.submissions <= site.limits.requestsMax,
        JSON.stringify({ change, first }),
      );
      t.deepEqual(
        countIn(site, () => {
          site.pass(48 * hour);
        }),
        { submissions: 0, withdrawals: 0 },
        JSON.stringify(change),
      );
      // Once they are as before, so is what waits, without more than one exchange for each request.
      site.limits = large;
      const again = countIn(site, () => {
        site.pass(24 * hour);
      });
      t.true(
        again.withdrawals <= large.requestsMax && again.submissions <= large.requestsMax,
        JSON.stringify({ change, again }),
      );
      t.is(site.waiting.length, large.requestsMax, JSON.stringify(change));
    }
  });

  test(`limits that become smaller and larger again every other hour make ${heuristic} withdraw only what is beyond them, and exchange one request at most`, (t) => {
    for (const change of smaller) {
      const site = aSiteWithWaiting(heuristic);
      for (let day = 0; day < 12; day += 1) {
        site.limits = { ...large, ...change };
        const unfit = site.waiting.filter(
          ({ width, walltime }) => width > site.limits.widthMax || walltime > site.limits.walltimeMax,
        ).length;
        const counts = countIn(site, () => {
          site.pass(hour);
        });
        t.true(
          counts.withdrawals <= unfit && counts.submissions <= unfit,
          JSON.stringify({ change, day, unfit, counts }),
        );
        site.limits = large;
        const missing = large.requestsMax - site.waiting.length;
        const again = countIn(site, () => {
          site.pass(hour);
        });
        t.true(
          again.withdrawals <= 1 && again.submissions <= missing + again.withdrawals,
          JSON.stringify({ change, day, missing, again }),
        );
      }
    }
  });
}

test('a waiting request that is beyond the limits goes back, says why, and what follows in its slot is within', (t) => {
  const site = aSiteWithWaiting('finish');
  site.limits = { ...large, widthMax: 4, walltimeMax: 6 * hour };
  site.pass(hour);
  const requests = [...site.harness.state.requests.values()];
  t.deepEqual(
    requests.map(({ status }) => status),
    ['ended', 'ended', 'ended', 'queued', 'queued', 'queued'],
  );
  t.true(requests[0]?.reasons.some((reason) => reason.code === 'withdrawn-over-limits' && reason.processors === 16));
  t.true(site.waiting.every(({ width, walltime }) => width <= 4 && walltime <= 6 * hour));
});

test('while more requests wait than may be by now, none is given up for another, which would find no slot', (t) => {
  for (const requestsMax of [0, 1, 2]) {
    for (const free of [1, 4, 15]) {
      const site = aSiteWithWaiting('finish');
      site.limits = { ...large, requestsMax };
      // What is free from now on tempts to ask for something that starts at once.
      site.hold(large.processors - free, 190 * hour);
      t.deepEqual(
        countIn(site, () => {
          site.pass(24 * hour);
        }),
        { submissions: 0, withdrawals: 0 },
        JSON.stringify({ requestsMax, free }),
      );
    }
  }
});

test('while more requests are there than may be by now, none that runs is released for another, which would find no slot', (t) => {
  for (const requestsMax of [0, 1, 2]) {
    const site = new Site('finish');
    site.hold(large.processors - 1, 200 * hour);
    site.want(100);
    site.pass(hour);
    t.deepEqual(
      [...site.harness.state.requests.values()].map(({ width, status }) => `${width} ${status}`),
      ['1 running', '1 queued', '16 queued'],
    );
    site.limits = { ...large, requestsMax };
    site.hold(1, 190 * hour);
    t.deepEqual(
      countIn(site, () => {
        site.pass(2 * hour);
      }),
      { submissions: 0, withdrawals: 0 },
      String(requestsMax),
    );
  }
});
