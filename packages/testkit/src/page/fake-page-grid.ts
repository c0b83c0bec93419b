import { aSentence } from '../a-sentence.ts';
import { Prng } from '@mutirao/core/shared';
import type {
  AllocationRequest,
  Explanation,
  GridEvent,
  History,
  JobDetail,
  JobRow,
  Ledger,
  MachineOverview,
  ProviderDetail,
  ProviderList,
  Summary,
} from '@mutirao/web/schema';

/** How large a faked grid is, and how much goes on in it. */
export interface FakePageOptions {
  readonly taskCount: number;
  readonly machineCount: number;
  /** Tasks that finish in a second; 0 for a grid that stands still. */
  readonly finishedPerSecond: number;
  /** Jobs in addition to those that always exist, all newer. */
  readonly jobCount?: number;
  /** Whether there has been no job yet. */
  readonly isEmpty?: boolean;
  /** Whether no machine can take the tasks of job 41. */
  readonly isBlocked?: boolean;
}

const providers = ['alpha', 'beta', 'gamma', 'lab'] as const;
const minute = 60_000;

/**
 * A fake grid to look at. Its numbers come from a seed, add up, and follow the time that a test sets.
 */
export class FakePageGrid {
  readonly options: FakePageOptions;
  readonly startedAt: number;
  readonly #statuses: number[];
  readonly #others: readonly JobRow[];

  constructor(options: FakePageOptions, startedAt: number) {
    this.options = options;
    this.startedAt = startedAt;
    const prng = new Prng('the grid of a page');
    this.#statuses = Array.from({ length: options.machineCount }, () => {
      const drawn = prng.word() % 100;
      return drawn < 82 ? 1 : drawn < 94 ? 0 : drawn < 98 ? 2 : 3;
    });
    this.#others = this.#makeOthers();
  }

  #finished(now: number): number {
    const { taskCount, finishedPerSecond } = this.options;
    return Math.min(
      taskCount,
      Math.floor(taskCount * 0.62) + Math.floor(((now - this.startedAt) / 1000) * finishedPerSecond),
    );
  }

  jobRows(now: number): JobRow[] {
    if (this.options.isEmpty === true) return [];
    const running = this.#statuses.filter((status) => status === 1).length;
    const finished = this.#finished(now);
    const { taskCount } = this.options;
    const failed = Math.min(17, taskCount - finished);
    const placed = Math.min(running, taskCount - finished - failed);
    const large = this.#row(42, {
      label: 'protein-docking',
      submitted: this.startedAt - 96 * minute,
      counts: { finished, failed, running: placed, ready: taskCount - finished - failed - placed },
    });
    const blur = this.#makeSecond();
    const done = Array.from({ length: 12 }, (_, index) =>
      this.#row(40 - index, {
        label:
          ['monte-carlo pi', 'parameter sweep β=0.3', '<b>hostile</b> & "quoted" label', 'mandelbrot-poster'][
            index % 4
          ] ?? '',
        submitted: this.startedAt - (index + 4) * 31 * minute,
        counts: index === 3 ? { finished: 412, failed: 4, cancelled: 84 } : { finished: 500 - index * 20 },
        status: index === 3 ? 'failed' : 'finished',
      }),
    );
    return [...this.#others, large, blur, ...done];
  }

  #makeSecond(): JobRow {
    if (this.options.isBlocked !== true)
      return this.#row(41, {
        label: 'blur.yaml',
        submitted: this.startedAt - 30 * minute,
        counts: { finished: 7, running: 3, waiting: 10 },
      });
    const row = this.#row(41, {
      label: 'training',
      submitted: this.startedAt - 30 * minute,
      counts: { ready: 12 },
    });
    return {
      ...row,
      replica_count: 0,
      remaining_ms_min: null,
      remaining_ms_max: null,
      is_blocked: true,
      waiting: aSentence('No machine meets the requirements of its tasks (10 were considered).'),
    };
  }

  /**
   * Jobs that are only there to be many: every fiftieth runs, of every other one of these it is not known how long it
   * takes.
   */
  #makeOthers(): JobRow[] {
    const prng = new Prng('jobs of a faked grid');
    return Array.from({ length: this.options.jobCount ?? 0 }, (_, index) =>
      this.#makeOther(43 + index, 1 + (prng.word() % 5000)),
    ).reverse();
  }

  #makeOther(jobId: number, count: number): JobRow {
    const isOpen = jobId % 50 === 0;
    const finished = isOpen ? Math.floor(count / 3) : jobId % 17 === 0 ? count - 1 : count;
    const placed = Math.min(7, count - finished);
    const counts = isOpen
      ? { finished, running: placed, ready: count - finished - placed }
      : { finished, failed: count - finished };
    const label = `${['fold', 'sweep', 'render', 'dock', 'fit'][jobId % 5] ?? ''} ${jobId}`;
    const row = this.#row(jobId, {
      label,
      submitted: this.startedAt - ((this.options.jobCount ?? 0) + 43 - jobId) * minute,
      counts,
      status: isOpen ? 'running' : finished < count ? 'failed' : 'finished',
    });
    return jobId % 100 === 0 ? { ...row, remaining_ms_min: null, remaining_ms_max: null } : row;
  }

  #row(
    jobId: number,
    made: {
      readonly label: string;
      readonly submitted: number;
      readonly counts: Partial<JobRow['tasks']>;
      readonly status?: JobRow['status'];
    },
  ): JobRow {
    const tasks = {
      waiting: 0,
      ready: 0,
      running: 0,
      verifying: 0,
      finished: 0,
      failed: 0,
      cancelled: 0,
      ...made.counts,
    };
    const taskCount = Object.values(tasks).reduce((sum, count) => sum + count, 0);
    const isOpen = tasks.running + tasks.ready + tasks.waiting > 0;
    return {
      job_id: jobId,
      label: made.label,
      user_id: 'rosa',
      status: made.status ?? (isOpen ? 'running' : 'finished'),
      submitted_unix_ms: made.submitted,
      ended_unix_ms: isOpen ? null : made.submitted + 22 * minute,
      task_count: taskCount,
      tasks,
      replica_count: taskCount + 30,
      is_blocked: false,
      waiting: null,
      held_count: 0,
      priority: 0,
      running_max: null,
      is_open: false,
      cancel_reason: null,
      doubtful_count: 0,
      remaining_ms_min: isOpen ? 11 * minute : null,
      remaining_ms_max: isOpen ? 14 * minute : null,
      planned_end_unix_ms: null,
    };
  }

  machines(now: number): MachineOverview {
    const beat = Math.floor(now / 1000);
    const sites = providers.map((providerId, site) => {
      const statuses = this.#statuses
        .filter((_, index) => index % providers.length === site)
        .map((status, index) =>
          (index * 7 + beat) % 31 === 0 && status < 2 && this.options.finishedPerSecond > 0 ? 1 - status : status,
        );
      const count = (status: number): number => statuses.filter((one) => one === status).length;
      return {
        provider_id: providerId,
        machine_count: statuses.length,
        processors: statuses.length * 2,
        running_count: count(1) * 2,
        idle: count(0),
        busy: count(1),
        draining: count(2),
        quarantined: count(3),
        left_out_count: 0,
        machines: {
          machine_id: statuses.map((_, index) => `${providerId}-n${String(index + 1).padStart(3, '0')}`),
          status: statuses,
          processors: statuses.map(() => 2),
          running: statuses.map((status) => (status === 1 ? 2 : 0)),
          until_unix_ms: statuses.map((_, index) =>
            providerId === 'lab' ? 0 : this.startedAt + (20 + (index % 40)) * minute,
          ),
        },
      };
    });
    return { statuses: ['idle', 'busy', 'draining', 'quarantined'], sites };
  }

  summary(now: number): Summary {
    const rows = this.jobRows(now);
    const { sites } = this.machines(now);
    const add = (status: 'idle' | 'busy' | 'draining' | 'quarantined'): number =>
      sites.reduce((sum, site) => sum + site[status], 0);
    const counts = { waiting: 0, ready: 0, running: 0, verifying: 0, finished: 0, failed: 0, cancelled: 0 };
    for (const { tasks } of rows)
      for (const status of Object.keys(counts) as (keyof typeof counts)[]) counts[status] += tasks[status];
    return {
      jobs_running: 2,
      jobs_blocked: rows.filter((row) => row.is_blocked).length,
      jobs_ended: 12,
      has_more_jobs: false,
      tasks: counts,
      finished_per_s: this.options.finishedPerSecond,
      machines: { idle: add('idle'), busy: add('busy'), draining: add('draining'), quarantined: add('quarantined') },
      processors: this.options.machineCount * 2,
      replicas_running: add('busy') * 2,
      providers_connected: providers.length,
      provider_count: providers.length,
      providers_away: [],
      requests_queued: 3,
      requests_running: 6,
      remaining_ms_max: 14 * minute,
      remaining_unknown_count: 0,
      trouble: '',
    };
  }

  /** As if the gateway had looked each ten seconds. */
  history(now: number, minutes: number): History {
    const count = Math.min(720, minutes * 6);
    const step = (minutes * 60_000) / count;
    const wave = (index: number): number => (1 + Math.sin(index / 9)) / 2;
    const indexes = Array.from({ length: count }, (_, index) => index);
    return {
      every_ms: step,
      at_unix_ms: indexes.map((index) => Math.round(now - (count - index) * step)),
      finished_per_s: indexes.map((index) => Math.round(10 * this.options.finishedPerSecond * wave(index)) / 10),
      processors: indexes.map(() => this.options.machineCount * 2),
      sites: providers.map((provider_id, site) => ({
        provider_id,
        busy: indexes.map((index) => Math.round((this.options.machineCount / 2) * wave(index + site * 11))),
      })),
    };
  }

  requests(): AllocationRequest[] {
    return ['alpha', 'beta', 'gamma'].flatMap((providerId, site) =>
      [1, 2, 3].map((number) => ({
        provider_id: providerId,
        request_id: `${providerId}/q${number}`,
        manager_request_id: `${100 + site * 10 + number}`,
        status: number === 3 ? 'queued' : 'running',
        width_processors: [32, 16, 48][number - 1] ?? 16,
        walltime_ms: (20 + number * 15) * minute,
        submitted_unix_ms: this.startedAt - 40 * minute,
        started_unix_ms: number === 3 ? null : this.startedAt - number * 9 * minute,
        ended_unix_ms: null,
        seen_unix_ms: this.startedAt,
        heuristic: 'adaptive',
        reasons: [
          aSentence('48 tasks of about 90 s wait, and no queued request has room for them.'),
          aSentence('A narrower request would start 12 minutes earlier but finish 31 tasks fewer by then.'),
        ],
        candidates:
          number === 3
            ? [8, 16, 32, 48, 64].map((width) => ({
                width_processors: width,
                walltime_ms: 65 * minute,
                starts_unix_ms: this.startedAt + width * 30_000,
                throughput_tasks_per_hour: 900 + width * 3,
                chosen: width === 48,
              }))
            : [],
      })),
    );
  }

  providers(): ProviderList {
    const requests = this.requests();
    return {
      providers: providers.map((providerId) => ({
        provider_id: providerId,
        address: `${providerId}.example:4100`,
        connected: true,
        machines: Math.ceil(this.options.machineCount / providers.length),
        last_error: '',
        resource_id: providerId === 'lab' ? null : providerId,
        draining_since_unix_ms: null,
        draining_reason: '',
        running_tasks: 0,
        requests_queued: requests.filter((one) => one.provider_id === providerId && one.status === 'queued').length,
        requests_running: requests.filter((one) => one.provider_id === providerId && one.status === 'running').length,
      })),
      requests,
      requests_left_out: 0,
    };
  }

  provider(providerId: string): ProviderDetail | undefined {
    const list = this.providers();
    const provider = list.providers.find((one) => one.provider_id === providerId);
    if (provider === undefined) return undefined;
    const requests = list.requests.filter((one) => one.provider_id === providerId);
    if (providerId === 'lab')
      return {
        provider,
        resource: null,
        requests,
        queue: null,
        profile: null,
        profile_missing: 'The resource is time-shared: its machines come and go by themselves.',
      };
    const at = this.startedAt;
    const taken = [
      { request_id: '88', is_ours: false, width_processors: 40, from: -10, until: 50 },
      { request_id: requests[0]?.manager_request_id ?? '', is_ours: true, width_processors: 32, from: -9, until: 26 },
      { request_id: requests[1]?.manager_request_id ?? '', is_ours: true, width_processors: 16, from: -18, until: 32 },
      { request_id: '91', is_ours: false, width_processors: 64, from: 50, until: 110 },
      { request_id: requests[2]?.manager_request_id ?? '', is_ours: true, width_processors: 48, from: 26, until: 91 },
    ];
    const changes = [...new Set([0, ...taken.flatMap(({ from, until }) => [from, until])])]
      .filter((one) => one >= 0)
      .sort((one, other) => one - other);
    return {
      provider,
      resource: {
        resource_kind: 'slurm',
        processors: 128,
        requests_max: 4,
        walltime_ms_max: 240 * minute,
        width_processors_max: 64,
        walltime_granularity_ms: minute,
        heuristic: 'adaptive',
        queued_requests: 2,
        machines: provider.machines,
        draining: false,
        reasons: [aSentence('Another request of 48 processors would start in 26 minutes; nothing more is requested.')],
      },
      requests,
      profile_missing: '',
      queue: { knowledge: 'complete', trouble: null, age_ms: 4000, running_count: 3, waiting_count: 2, decision: null },
      profile: {
        at_unix_ms: at,
        processors: 128,
        steps: changes.map((change) => ({
          from_unix_ms: at + change * minute,
          free_processors:
            128 -
            taken.reduce(
              (sum, { width_processors: width, from, until }) => sum + (from <= change && change < until ? width : 0),
              0,
            ),
        })),
        requests: taken.map(({ from, until, ...one }) => ({
          ...one,
          status: from <= 0 ? 'running' : 'queued',
          start_unix_ms: at + from * minute,
          end_unix_ms: at + until * minute,
        })),
        reservations: [
          { reservation_id: 4, processors: 24, start_unix_ms: at + 60 * minute, end_unix_ms: at + 100 * minute },
        ],
      },
    };
  }

  ledger(): Ledger {
    const row = (share: number): Omit<Ledger['total'], never> => ({
      requested_processor_ms: 410 * minute * share,
      held_processor_ms: 360 * minute * share,
      used_processor_ms: 301 * minute * share,
      losers_processor_ms: 17 * minute * share,
      killed_processor_ms: 9 * minute * share,
      idle_processor_ms: 33 * minute * share,
    });
    return {
      job_id: null,
      total: row(100),
      by_provider: [
        ['alpha', 50],
        ['beta', 30],
        ['gamma', 15],
        ['lab', 5],
      ].map(([providerId, share]) => ({ provider_id: String(providerId), allocation_count: 4, ...row(Number(share)) })),
      rows: [],
      rows_left_out: 0,
    };
  }

  events(now: number, first: number): GridEvent[] {
    const types = [
      'tasks.finished',
      'tasks.started',
      'tasks.finished',
      'machine.joined',
      'request.queued',
      'tasks.failed',
    ];
    return Array.from({ length: 12 }, (_, index) => {
      const type = types[(first + index) % types.length] ?? '';
      const isOfTasks = type.startsWith('tasks');
      return {
        sequence: first + index,
        at_unix_ms: now - (12 - index) * 40,
        type,
        job_id: isOfTasks ? 42 : null,
        task_indexes: isOfTasks ? [first + index] : [],
        task_count: isOfTasks ? 1 + (index % 3) : 0,
        machine_id: type.startsWith('request') ? '' : `alpha-n${String((first * 3 + index) % 250).padStart(3, '0')}`,
        provider_id: 'alpha',
        request_id: type.startsWith('request') ? 'alpha/q3' : '',
        reason: type === 'tasks.failed' ? 'MUT_COMMAND_FAILED' : '',
        why: type === 'tasks.failed' ? 'exit status 2' : '',
      };
    });
  }

  jobDetail(jobId: number, now: number): JobDetail | undefined {
    const job = this.jobRows(now).find((row) => row.job_id === jobId);
    if (job === undefined) return undefined;
    return {
      job,
      is_workflow: jobId === 41 && !job.is_blocked,
      edge_count: jobId === 41 && !job.is_blocked ? 30 : 0,
      slot_count: job.tasks.running,
      task_time_ms_half: 88_000,
      task_time_ms_ninetieth: 131_000,
      timed_count: job.tasks.finished,
      cut_off_count: 3,
      processors: 1,
      is_gang: false,
      replicas_max: 2,
      failures_max: 3,
      scheduler: 'wqr',
      replication_budget: 'none',
      verification: '',
      home_directory: '/home/rosa/docking',
      deadline_unix_ms: null,
      environment: { SEED: '7' },
      run_time_ms_max: 0,
      memory_bytes_max: 0,
      output_bytes_max: 0,
      groups: [
        {
          task_count: job.task_count,
          command: './dock --ligand {} --out out-{#}.pdb',
          check: '',
          requirements: 'mem >= 2000',
          input_count: 2,
          output_count: 1,
          no_op: false,
        },
      ],
      group_count: 1,
      doubtful_task_indexes: [],
    };
  }

  explanation(subject: string): Explanation {
    return {
      subject,
      summary: aSentence(`${subject} runs as fast as the machines allow.`),
      waiting: null,
      details: [
        aSentence('820 processors run its tasks, more than of any other job.'),
        aSentence('Request alpha/q3 is queued and is expected to start in 26 minutes.'),
        aSentence('Nothing more is requested: the queue of beta is longer than the remaining work.'),
      ],
    };
  }
}
