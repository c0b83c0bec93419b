// What the machine receives from a standby: how agents are, and which replicas could not be started.
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { encodeReport } from '@mutirao/api/codecs';
import { AttachRequest } from '@mutirao/api/machine';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { Outcome } from '@mutirao/core/messages';
import { quietLogger } from '@mutirao/runtime/log';
import { anEnd, HandTimers } from '@mutirao/testkit';
import { Standby, type StandbyOptions } from '../../../src/standby/standby.ts';
import { LeaseStore } from '../../../src/standby/lease-store.ts';
import type { ReportBuffer } from '../../../src/standby/report-buffer.ts';
import type { SpoolQuota } from '../../../src/standby/spool-quota.ts';
import type { AgentLink } from '../../../src/relay/links.ts';
import { SpooledBodies } from '../../../src/spool/spooled-bodies.ts';

/** A standby, and an agent whose messages it keeps. */
class Bench {
  readonly inputs: ProviderInput[] = [];
  readonly standby: Standby;
  readonly agent: AgentLink;
  buffer: ReportBuffer | undefined;
  findExcess: SpoolQuota['findReportExcess'] = () => undefined;
  readonly timers = new HandTimers();

  constructor() {
    const shared = {
      bodies: new SpooledBodies(new DatabaseSync(':memory:')),
      contents: undefined,
      timers: this.timers,
      log: quietLogger,
      deliver: (input: ProviderInput) => {
        this.inputs.push(input);
      },
    };
    const leases = new LeaseStore({ ...shared, clock: { now: () => 0 }, report: () => undefined });
    this.standby = new Standby({
      ...shared,
      leases,
      outputs: {} as unknown as StandbyOptions['outputs'],
      ownerId: 'ana',
      roomForReports: () => 10_000,
      brokerOf: () => 'b',
      hasKept: () => false,
      quota: { demand: () => undefined, findReportExcess: (...asked) => this.findExcess(...asked) },
      onReport: () => undefined,
    });
    const agent = {
      identity: { machineId: 'p/m', incarnation: 'i', attachmentId: 4 },
      isKeeping: false,
      stream: { pause: () => undefined, resume: () => undefined },
      keep: (buffer: ReportBuffer) => {
        this.buffer = buffer;
      },
    };
    this.agent = agent as unknown as AgentLink;
  }

  report(sequence: number, outcome: Outcome, reason: string): void {
    const ended = [{ ...anEnd(sequence, outcome, { startedAt: 1, endedAt: 2 }), reason }];
    this.buffer?.receive(
      Buffer.from(
        AttachRequest.encode({
          message: { $case: 'report', value: encodeReport({ sequence, started: [], ended }) },
        }).finish(),
      ),
    );
  }
}

test('a kept report says whether its machine is well', (t) => {
  const bench = new Bench();
  bench.standby.keep(bench.agent);
  bench.report(1, 'succeeded', '');
  bench.report(2, 'broken', 'MUT_LAUNCH_FAILED');
  bench.report(3, 'broken', 'MUT_NO_SPACE');
  t.deepEqual(
    bench.inputs.map((input) => (input.kind === 'ReportMade' ? [input.sequence, input.health] : input.kind)),
    [
      [1, 'sound'],
      [2, 'broken'],
      [3, 'full'],
    ],
  );
});

test('the machine is notified that the agent has none of the leased replicas whose body is gone', (t) => {
  const bench = new Bench();
  t.deepEqual(
    bench.standby.startsFor(bench.agent, {
      kind: 'StartLeased',
      brokerId: 'b',
      sequence: 1,
      machineId: 'p/m',
      attachmentId: 4,
      replicaIds: [7, 8],
    }),
    [],
  );
  t.deepEqual(bench.inputs, [{ kind: 'LeasedUnstartable', machineId: 'p/m', attachmentId: 4, replicaIds: [7, 8] }]);
});

test('reports of a machine that has its share of them kept wait until there is room for its own', (t) => {
  const bench = new Bench();
  const asked: (readonly [string, number])[] = [];
  let isOver = false;
  bench.findExcess = (machineId, reported) => {
    asked.push([machineId, reported]);
    return isOver ? 'the quota "machine-report-bytes" is used up' : undefined;
  };
  bench.standby.keep(bench.agent);
  bench.report(1, 'succeeded', '');
  isOver = true;
  bench.report(2, 'succeeded', '');
  const reported = (): (number | string)[] =>
    bench.inputs.map((input) => (input.kind === 'ReportMade' ? input.sequence : input.kind));
  t.deepEqual(reported(), [1]);
  t.true((asked[1]?.[1] ?? 0) > 0, 'what is not in the journal yet counts too');
  t.regex(bench.standby.trouble, /reports wait at their machines/);
  isOver = false;
  bench.timers.ring();
  t.deepEqual(reported(), [1, 2]);
});
