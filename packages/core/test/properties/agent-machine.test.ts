import test from 'ava';
import fc from 'fast-check';
import {
  agentMachine,
  createAgentState,
  listHeldReplicas,
  type AgentCommand,
  type AgentInput,
  type AgentState,
  type HeldReplica,
} from '@mutirao/core/machines/agent';
import type { Content, MachineReport, ReplicaStart, TaskTemplate } from '@mutirao/core/messages';
import { emptyRequest, type ResourceCapacity, type ResourceRequest } from '@mutirao/core/resources';
import { runs } from '@mutirao/testkit';

const processors = 3;
const sizes: Readonly<Record<string, number>> = { a: 10, b: 20, c: 40, d: 200 };

const capacity: ResourceCapacity = {
  memory: 100,
  gpus: [
    { id: '0', kind: 'a100' },
    { id: '1', kind: 't4' },
  ],
  named: { licence: 2 },
};
const anyResources = fc.option(
  fc.record({
    memory: fc.constantFrom(0, 0, 30, 70, 101),
    gpus: fc.constantFrom(0, 0, 300, 500, 1000, 2000, 3000),
    named: fc.constantFrom({}, { licence: 1 }, { licence: 2 }, { scratch: 1 }),
  }),
  { nil: undefined },
);

const anyAction = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('place' as const),
      count: fc.integer({ min: 1, max: 4 }),
      noOp: fc.boolean(),
      width: fc.integer({ min: 1, max: processors + 1 }),
      contents: fc.uniqueArray(fc.constantFrom(...Object.keys(sizes)), { maxLength: 2 }),
      hasOutput: fc.boolean(),
      time: fc.constantFrom(0, 0, 20),
      again: fc.boolean(),
      rank: fc.constantFrom(undefined, undefined, 0, 1),
      resources: anyResources,
      jobId: fc.constantFrom(1, 1, 2),
      runner: fc.constantFrom(undefined, 'py', 'py', 'R'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(), onlyWaiting: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('exit' as const), pick: fc.nat(), status: fc.constantFrom(0, 0, 1, 137) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), pick: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('content' as const),
      pick: fc.nat(),
      refused: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('settle' as const), pick: fc.nat(), fails: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('listen' as const),
      pick: fc.nat(),
      fails: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('begin' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), pick: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('acknowledge' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('attach' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('detach' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), time: fc.integer({ min: 1, max: 40 }) }) },
);
type Action = typeof anyAction extends fc.Arbitrary<infer T> ? T : never;

/**
 * A machine's host and its broker, which keep their own truth: what runs on each processor, which contents are pinned,
 * what was told.
 */
class World {
  readonly state: AgentState;
  now = 1;
  /** By slot: which replica's process, or staging, or collecting, goes on. */
  readonly busy = new Map<number, { replica: HeldReplica; kind: 'stage' | 'run' | 'collect' }>();
  /** Runners that live, by the slot of their process: what they serve, and their other slots. */
  readonly residents = new Map<number, { serves: string; slots: readonly number[] }>();
  /** Members of gangs that were told to listen, and whether they do. */
  readonly members = new Map<number, boolean>();
  /** Cancelled before they were started. */
  readonly withdrawn = new Set<number>();
  /** Members that the broker heard of as held, once each. */
  readonly reportedHeld = new Set<number>();
  readonly pinned = new Map<string, 'asked' | 'here'>();
  readonly accepted = new Set<number>();
  readonly reports = new Map<number, MachineReport>();
  attached = false;
  nextId = 1;
  wakeAt = Infinity;
  broken = '';

  /** @param longest how long ends are held back. */
  constructor(longest: number) {
    this.state = createAgentState({
      processors,
      capacity,
      unacknowledgedMax: 5,
      unacknowledgedBytesMax: 1000,
      killGrace: 30,
      endHold: { longest, isForAll: true },
      startedDelay: 10,
      reportInterval: 5,
      contentBytesMax: 60,
      prefetchMax: 3,
      runnerIdleMax: 50,
    });
  }

  act(action: Action): void {
    switch (action.kind) {
      case 'place':
        return this.place(action);
      case 'cancel':
        return this.cancel(1 + (action.pick % this.nextId), action.onlyWaiting);
      case 'exit':
        return this.exit(action.pick, action.status);
      case 'die':
        return this.die(action.pick);
      case 'content':
        return this.content(action.pick, action.refused);
      case 'settle':
        return this.settle(action.pick, action.fails);
      case 'listen':
        return this.listen(action.pick, action.fails);
      case 'begin':
        return this.begin(action.pick);
      case 'lose':
        return this.receive({ kind: 'GangLost', replicaId: 1 + (action.pick % this.nextId), detail: '' });
      case 'acknowledge':
        return this.receive({ kind: 'ReportAcknowledged', sequence: Math.max(0, ...this.reports.keys()) });
      case 'attach':
        this.attached = true;
        return this.receive({ kind: 'ProviderAttached' });
      case 'detach':
        this.attached = false;
        return this.receive({ kind: 'ProviderLost' });
      case 'pass':
        this.now += action.time;
        return this.now >= this.wakeAt ? this.receive({ kind: 'TimerFired' }) : undefined;
    }
  }

  /** No more work; everything that goes on comes to an end. */
  finish(): void {
    for (let round = 0; round < 400 && (this.state.replicas.size > 0 || this.state.endedIds.size > 0); round++) {
      this.act({ kind: 'attach' });
      this.act({ kind: 'content', pick: 0, refused: false });
      this.act({ kind: 'listen', pick: 0, fails: false });
      this.act({ kind: 'begin', pick: round });
      this.act({ kind: 'exit', pick: 0, status: 0 });
      this.act({ kind: 'settle', pick: 0, fails: false });
      this.act({ kind: 'acknowledge' });
      this.act({ kind: 'pass', time: 10 });
    }
    this.receive({ kind: 'DrainRequested' });
    if (this.residents.size > 0) this.complain('runners are left after the drain');
  }

  /** Ends as the broker hears them: each report once. */
  ends(): number[] {
    return [...this.reports.values()].flatMap((report) => report.ended.map((end) => end.replicaId));
  }

  private place(action: Extract<Action, { kind: 'place' }>): void {
    const template: TaskTemplate = {
      jobId: action.jobId,
      userId: 'ana',
      command: 'x',
      ...(action.runner === undefined ? {} : { runner: { command: action.runner, protocolVersion: 1 } }),
      noOp: action.noOp,
      environment: {},
      limits: { runTimeMax: action.time, memoryMax: 0, outputMax: 0 },
      processors: action.width,
      ...(action.resources === undefined ? {} : { resources: action.resources }),
    };
    const replicas = Array.from(
      { length: action.count },
      (): ReplicaStart => ({
        replicaId: this.nextId++,
        taskIndex: 0,
        value: '',
        outputs: action.hasOutput ? [{ root: 'playpen', path: 'o' }] : [],
        ...(action.rank === undefined
          ? {}
          : { gang: { gangId: 1, rank: action.rank, members: 2, secret: new Uint8Array(32) } }),
        inputs: action.contents.map((sha256) => ({
          root: 'playpen',
          path: sha256,
          content: { sha256, size: sizes[sha256] ?? 0 },
          mode: 0o600,
        })),
      }),
    );
    for (const replica of replicas) this.accepted.add(replica.replicaId);
    const input: AgentInput = { kind: 'ReplicasDispatched', batch: { template, replicas } };
    this.receive(input, ...(action.again ? [input] : []));
  }

  private cancel(replicaId: number, onlyWaiting: boolean): void {
    const status = this.state.replicas.get(replicaId)?.status;
    if (status !== undefined && status !== 'running' && status !== 'ending') this.withdrawn.add(replicaId);
    this.receive({ kind: 'ReplicasCancelled', replicaIds: [replicaId, this.nextId + 5], onlyWaiting });
  }

  private listen(index: number, fails: boolean): void {
    const waiting = [...this.members].filter(([, listens]) => !listens);
    const replicaId = waiting[index % Math.max(1, waiting.length)]?.[0];
    if (replicaId === undefined) return;
    this.members.set(replicaId, !fails);
    if (fails)
      this.receive({
        kind: 'HoldFailed',
        replicaId,
        verdict: { outcome: 'broken', reason: 'MUT_GANG_CHANNEL_FAILED', detail: '' },
      });
    else this.receive({ kind: 'MemberListening', held: { replicaId, name: `ana@m${replicaId}`, addresses: ['h:1'] } });
  }

  /** As a broker may say it: only of members that it was told of, again and late too. */
  private begin(index: number): void {
    const replicaId = [...this.reportedHeld][index % Math.max(1, this.reportedHeld.size)];
    if (replicaId !== undefined)
      this.receive({
        kind: 'GangStarted',
        start: {
          replicaId,
          members: [0, 1].map((rank) => ({ rank, name: `ana@m${rank}`, addresses: ['h:1'], processors: 1 })),
        },
      });
  }

  private pick(kind: 'stage' | 'run' | 'collect', index: number): { slot: number; replicaId: number } | undefined {
    const slots = [...this.busy].filter(([, job]) => job.kind === kind);
    const found = slots[index % Math.max(1, slots.length)];
    if (found === undefined) return undefined;
    this.busy.delete(found[0]);
    return { slot: found[0], replicaId: found[1].replica.start.replicaId };
  }

  private exit(index: number, exitStatus: number): void {
    const ended = this.pick('run', index);
    if (ended === undefined) return;
    const isGone = exitStatus === 137 && this.residents.delete(ended.slot);
    const nothing = new Uint8Array(0);
    this.receive({
      kind: 'ProcessEnded',
      replicaId: ended.replicaId,
      verdict: undefined,
      result: { exitStatus, standardOutput: nothing, standardError: nothing, outputTruncated: false, outputBytes: 0 },
      ...(isGone ? { isRunnerGone: true } : {}),
    });
  }

  /** An idle runner ends by itself. */
  private die(index: number): void {
    const idle = [...this.residents.keys()].filter((slot) => !this.busy.has(slot));
    const slot = idle[index % Math.max(1, idle.length)];
    if (slot === undefined) return;
    this.residents.delete(slot);
    this.receive({ kind: 'RunnerEnded', slot });
  }

  /** A runner serves one job, and what it does not serve finds no runner on its processors. */
  private meetRunner({ template, runner, slots }: HeldReplica): void {
    const serves = `job ${template.jobId} by ${template.runner?.command}`;
    for (const [first, resident] of [...this.residents]) {
      if (!resident.slots.some((slot) => slots.includes(slot))) continue;
      if (runner === undefined) this.complain(`a task starts beside the runner on ${first}`);
      else if (resident.serves !== serves || resident.slots.join() !== slots.join())
        this.complain(`the runner of ${resident.serves} gets a task of ${serves}`);
    }
    if (runner !== undefined) this.residents.set(slots[0] ?? -1, { serves, slots });
  }

  private settle(index: number, fails: boolean): void {
    const staged = this.pick('stage', index);
    const verdict = { outcome: 'broken', reason: 'MUT_NO_SPACE', detail: '' } as const;
    if (staged !== undefined)
      return this.receive(
        fails
          ? { kind: 'StagingFailed', replicaId: staged.replicaId, verdict }
          : { kind: 'InputsStaged', replicaId: staged.replicaId },
      );
    const collected = this.pick('collect', index);
    if (collected === undefined) return;
    this.receive(
      fails
        ? { kind: 'CollectionFailed', replicaId: collected.replicaId, verdict }
        : { kind: 'OutputsCollected', replicaId: collected.replicaId, outputs: [] },
    );
  }

  private content(index: number, refused: boolean): void {
    const asked = [...this.pinned].filter(([, status]) => status === 'asked');
    const sha256 = asked[index % Math.max(1, asked.length)]?.[0];
    if (sha256 === undefined) return;
    if (!refused) this.pinned.set(sha256, 'here');
    this.receive(
      refused
        ? { kind: 'ContentRefused', contentKey: sha256, reason: 'MUT_INPUT_GONE', detail: '' }
        : { kind: 'ContentArrived', contentKey: sha256 },
    );
  }

  private receive(...inputs: AgentInput[]): void {
    const { commands } = agentMachine.step(this.state, inputs, this.now);
    agentMachine.checkInvariants(this.state);
    for (const command of commands) this.perform(command);
    const reported = this.ends();
    const held = new Set(listHeldReplicas(this.state));
    for (const replicaId of this.accepted) {
      if (!held.has(replicaId) && !reported.includes(replicaId)) this.complain(`replica ${replicaId} is forgotten`);
    }
  }

  private perform(command: AgentCommand): void {
    switch (command.kind) {
      case 'AskContents':
        return this.pin(command.contents);
      case 'ReleaseContents':
        return this.unpin(command.contentKeys);
      case 'StageIn':
        return this.occupy(command.replica, 'stage');
      case 'HoldMember':
        this.members.set(command.replica.start.replicaId, false);
        return;
      case 'ReleaseMember':
        this.members.delete(command.replicaId);
        return;
      case 'LaunchTask':
        if (this.withdrawn.has(command.replica.start.replicaId))
          this.complain('a replica is started that was cancelled before');
        if (command.replica.start.gang !== undefined && this.members.get(command.replica.start.replicaId) !== true)
          this.complain('a member starts that does not listen');
        this.meetRunner(command.replica);
        return this.occupy(command.replica, 'run');
      case 'CollectOutputs':
        return this.occupy(command.replica, 'collect');
      case 'KillTask':
        if (this.busy.get(command.replica.slots[0] ?? -1)?.replica !== command.replica)
          this.complain('a task is killed that does not run');
        return;
      case 'RemovePlaypen':
        if (this.busy.has(command.slot)) this.complain(`playpen ${command.slot} is removed in use`);
        return;
      case 'EndRunner':
        return this.endRunner(command.slot);
      case 'SendReport':
        return this.report(command.report);
      case 'WakeAt':
        this.wakeAt = command.at;
        return;
      case 'Leave':
        if (this.state.replicas.size > 0) this.complain('it leaves with replicas');
        return;
      case 'Reply':
        return this.complain('nobody asked');
    }
  }

  private endRunner(slot: number): void {
    if (this.busy.has(slot)) this.complain(`the runner on ${slot} is ended with its task`);
    this.residents.delete(slot);
  }

  private pin(contents: readonly Content[]): void {
    for (const { sha256 } of contents) if (!this.pinned.has(sha256)) this.pinned.set(sha256, 'asked');
  }

  private unpin(sha256s: readonly string[]): void {
    for (const sha256 of sha256s) if (!this.pinned.delete(sha256)) this.complain(`${sha256} was not pinned`);
  }

  private occupy(replica: HeldReplica, kind: 'stage' | 'run' | 'collect'): void {
    const slot = replica.slots[0] ?? -1;
    if (this.busy.has(slot)) this.complain(`slot ${slot} holds two`);
    const held = [...this.busy.values()].reduce((sum, job) => sum + job.replica.slots.length, 0);
    if (held + replica.slots.length > processors) this.complain('more processors are held than there are');
    const replicas = [...this.busy.values(), { replica }].map((job) => job.replica);
    const sum = (amountOf: (asked: ResourceRequest) => number): number =>
      replicas.reduce((total, { template }) => total + amountOf(template.resources ?? emptyRequest), 0);
    if (sum(({ memory }) => memory) > 100) this.complain('more memory is held than there is');
    if (sum(({ gpus }) => gpus) > 2000) this.complain('more GPUs are held than there are');
    if (sum(({ named }) => named['licence'] ?? 0) > 2) this.complain('more licences are held than there are');
    for (const { content } of replica.start.inputs)
      if (this.pinned.get(content.sha256) !== 'here') this.complain(`${content.sha256} is used and not here`);
    this.busy.set(slot, { replica, kind });
  }

  private report(report: MachineReport): void {
    if (!this.attached) this.complain('a report is sent to nobody');
    const before = this.reports.get(report.sequence);
    for (const { replicaId } of before === undefined ? (report.gangMemberReady ?? []) : []) {
      if (this.reportedHeld.has(replicaId) || this.members.get(replicaId) !== true)
        this.complain(`replica ${replicaId} is reported as held, and is not`);
      this.reportedHeld.add(replicaId);
    }
    if (before === undefined) this.reports.set(report.sequence, structuredClone(report));
    else if (JSON.stringify(before) !== JSON.stringify(report))
      this.complain(`report ${report.sequence} changed between two sendings`);
  }

  private complain(what: string): void {
    this.broken ||= what;
  }
}

test('every accepted replica ends in exactly one report, and no processor holds two, whatever is cancelled, lost or repeated', (t) => {
  fc.assert(
    fc.property(fc.array(anyAction, { minLength: 1, maxLength: 60 }), (actions) => {
      const world = new World(20);
      for (const action of actions) world.act(action);
      world.finish();
      const ends = world.ends().sort((x, y) => x - y);
      return world.broken === '' &&
        world.pinned.size === 0 &&
        world.members.size === 0 &&
        JSON.stringify(ends) === JSON.stringify([...world.accepted].sort((x, y) => x - y))
        ? true
        : (() => {
            throw new Error(
              `${world.broken}; ended ${ends.join()} of ${[...world.accepted].join()}; pinned ` +
                `${[...world.pinned.keys()].join()}`,
            );
          })();
    }),
    runs(20_261_120, 1500),
  );
  t.pass();
});

const anyRunnerAction = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('place' as const),
      count: fc.integer({ min: 1, max: 2 }),
      noOp: fc.constant(false),
      width: fc.constantFrom(1, 1, 1, 2),
      contents: fc.constant<string[]>([]),
      hasOutput: fc.boolean(),
      time: fc.constant(0),
      again: fc.constant(false),
      rank: fc.constant(undefined),
      resources: fc.constantFrom(undefined, undefined, { memory: 70 as const, gpus: 500 as const, named: {} }),
      jobId: fc.constantFrom(1, 2),
      runner: fc.constantFrom(undefined, 'py', 'py', 'R'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('exit' as const), pick: fc.nat(), status: fc.constantFrom(0, 0, 0, 137) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), pick: fc.nat(), fails: fc.constant(false) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), pick: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(), onlyWaiting: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('acknowledge' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), time: fc.integer({ min: 1, max: 40 }) }) },
);

test('a runner serves one job, and no other task starts on its processors, whatever ends it', (t) => {
  fc.assert(
    fc.property(fc.array(anyRunnerAction, { minLength: 20, maxLength: 60, size: 'max' }), (actions) => {
      const world = new World(0);
      world.act({ kind: 'attach' });
      for (const action of actions) world.act(action);
      world.finish();
      if (world.broken !== '') throw new Error(world.broken);
      return world.ends().length === world.accepted.size;
    }),
    runs(20_261_129, 500),
  );
  t.pass();
});

test('a replica that has run for 10 ms is reported as started unless it ends in that step', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 20 }), (times) => {
      const world = new World(0);
      world.act({ kind: 'attach' });
      for (const time of times) {
        world.act({
          kind: 'place',
          count: 1,
          noOp: false,
          width: 1,
          contents: [],
          hasOutput: false,
          time: 0,
          again: false,
          rank: undefined,
          resources: undefined,
          jobId: 1,
          runner: undefined,
        });
        world.act({ kind: 'pass', time: time + 1 });
        world.act({ kind: 'exit', pick: 0, status: 0 });
        world.act({ kind: 'acknowledge' });
      }
      const started = [...world.reports.values()].flatMap((report) => report.started.map((start) => start.replicaId));
      return (
        started.length === new Set(started).size && started.length === times.filter((time) => time + 1 >= 10).length
      );
    }),
    runs(20_261_121, 200),
  );
  t.pass();
});
