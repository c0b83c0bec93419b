import { MutiraoError } from '@mutirao/api/errors';
import type { QueuedRequest, QueueListing, ResourceLimits } from '@mutirao/core/messages';
import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import { CancelQueue } from '../cancel-queue.ts';
import { JobFiles } from '../job-files.ts';
import type { AllocationOrder, ResourceManager } from '../resource-manager.ts';
import { runTool, listWords, type ToolAnswer } from '../run-tool.ts';
import { requireKey } from '../tried-keys.ts';
import { WidthMemory } from '../width-memory.ts';
import { fillTemplate, type PlaceholderValues } from './fill-template.ts';
import { parseLimit, type LimitName, type ManagerTemplates } from './manager-file.ts';
import { parseListing } from './parse-listing.ts';
import { slotValues } from './slot-values.ts';
import { renderProcess, renderScript } from './render-script.ts';

/** How to use a manager by the templates of its commands. */
export interface CommandsOptions {
  readonly templates: ManagerTemplates;
  /** Our user name at the manager; for `{user}`, and for requests that are listed without one. */
  readonly user: string;
  /** What `{flags}` stands for; added after the command's other words where it has no such word. */
  readonly flags: readonly string[];
  /** Where the files do not say it. */
  readonly requestsMax: number;
  /** Longest walltime to ask for; 0 for the manager's. */
  readonly walltimeMax: Duration;
  /** Most processors to ask for at once; 0 or left out for the manager's. */
  readonly widthMax?: ProcessorCount;
  /** For scripts and what jobs write, on a disk that the nodes share with us. */
  readonly jobFolder: string;
  /** Of each call of a command. */
  readonly deadlineMs: Duration;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  now(): Instant;
}

const minute: Duration = 60_000;
const outputBytesMax = 64 * 2 ** 20;
/** Keys of orders that are remembered, so that a repeated one is looked for. */
const keysMax = 1000;

/** Any resource manager that has commands to submit, cancel and list, by templates of these. */
export class CommandsManager implements ResourceManager {
  readonly #options: CommandsOptions;
  readonly #files: JobFiles;
  readonly #cancels: CancelQueue;
  readonly #keysTried = new Map<string, string>();
  readonly #closed = new AbortController();
  readonly #widths = new WidthMemory();
  #processors = 0;
  /** Keys of what waited or ran at the last listing; undefined before one. */
  #alive: ReadonlySet<string> | undefined;

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.#files = new JobFiles(options.jobFolder);
    this.#cancels = new CancelQueue((ids) => this.#cancel(ids));
  }

  get hasNewLimits(): boolean {
    return this.#widths.hasChanged;
  }

  async allocate(order: AllocationOrder): Promise<string> {
    const { clientRequestId: key } = order;
    requireKey(key);
    const known = this.#keysTried.get(key);
    if (known !== undefined) {
      const id =
        known === ''
          ? (await this.#list()).find(({ clientRequestId }) => clientRequestId === key)?.managerRequestId
          : known;
      if (id !== undefined) return id;
    }
    this.#remember(key, '');
    const id = await this.#submit(order);
    this.#remember(key, id);
    return id;
  }

  async release(managerRequestId: string): Promise<void> {
    // What begins with a dash would be a flag.
    if (/^[\w[][^\s]{0,99}$/.test(managerRequestId)) await this.#cancels.cancel(managerRequestId);
  }

  async limits(): Promise<ResourceLimits> {
    const { command, nodes } = this.#options.templates.limits;
    const output = command.length === 0 ? '' : await this.#read(command, new Map([['user', this.#options.user]]));
    const processors = this.#limit('processors', output) ?? 0;
    const walltimeMax = this.#limit('walltimeMax', output) ?? 0;
    this.#processors = processors;
    const widthMax = Math.min(this.#limit('widthMax', output) ?? processors, this.#options.widthMax || Infinity);
    return {
      processors,
      widthMax: this.#widths.bound(widthMax, this.#options.now()),
      requestsMax: this.#limit('requestsMax', output) ?? this.#options.requestsMax,
      walltimeMax: this.#options.walltimeMax === 0 ? walltimeMax : Math.min(walltimeMax, this.#options.walltimeMax),
      walltimeGranularity: this.#limit('walltimeGranularity', output) ?? minute,
      ...(nodes === undefined ? {} : { nodes }),
    };
  }

  async queue(endedMax: number): Promise<QueueListing> {
    if (this.#processors === 0) await this.limits();
    const at = this.#options.now();
    const requests = await this.#list();
    const alive = this.#withoutTwins(requests.filter(({ status }) => status !== 'ended')).sort(
      (one, other) => one.submittedAt - other.submittedAt,
    );
    const ended = requests
      .filter(({ status }) => status === 'ended')
      .sort((one, other) => other.endedAt - one.endedAt)
      .slice(0, endedMax);
    this.#alive = new Set(alive.map(({ clientRequestId }) => clientRequestId));
    const held = alive.reduce((sum, { status, width }) => sum + (status === 'running' ? width : 0), 0);
    return {
      at,
      processorsFree: Math.max(0, this.#processors - held),
      requests: [
        ...alive,
        ...ended.map((request) =>
          this.#withLastWords({ ...request, endedAt: request.endedAt === 0 ? at : request.endedAt }),
        ),
      ],
    };
  }

  watch(): void {
    // Commands give no hints.
  }

  close(): void {
    this.#closed.abort();
  }

  async #submit(order: AllocationOrder): Promise<string> {
    const { submit } = this.#options.templates;
    const { clientRequestId: key } = order;
    if (this.#alive !== undefined) this.#files.prune(this.#alive);
    const processPath =
      submit.launch === '' ? '' : this.#files.writeProgram(key, 'process', renderProcess(order, submit));
    const script = renderScript(order, this.#options.templates, processPath);
    const isFile = submit.command.some((word) => word.includes('{script}'));
    const values = this.#orderValues(order, isFile ? this.#files.writeProgram(key, 'job', script) : '');
    const words = submit.command.includes('{flags}') ? submit.command : [...submit.command, '{flags}'];
    const answer = await this.#run(words, values, submit.input === 'script' ? script : undefined);
    if (answer.status !== 0) throw this.#getRefusal(answer, order);
    const [, id] = submit.id.exec(answer.stdout) ?? [];
    if (id === undefined || id === '')
      throw new MutiraoError('MUT_UNREACHABLE', `${saidBy(submit.command, answer)}, in which "submit.id" finds no id`);
    return id;
  }

  /**
   * What is not known counts as refused, unless the command was killed: it says nothing then. Some managers have
   * statuses above 128.
   *
   * A width that is refused as such is not asked for again: half of it is the most from then on.
   */
  #getRefusal(answer: ToolAnswer, { width }: AllocationOrder): MutiraoError {
    const { submit, unreachable } = this.#options.templates;
    const words = answer.stdout + answer.stderr;
    const known =
      unreachable?.test(words) === true
        ? 'MUT_UNREACHABLE'
        : submit.refusals.find(({ pattern }) => pattern.test(words))?.code;
    if (known === 'MUT_WIDTH_MAX') this.#widths.refuse(width, this.#options.now());
    return new MutiraoError(
      known ?? (answer.status > 128 && words.trim() === '' ? 'MUT_UNREACHABLE' : 'MUT_BAD_REQUEST'),
      saidBy(submit.command, answer),
    );
  }

  #orderValues({ clientRequestId: key, width, slot, walltime }: AllocationOrder, script: string): PlaceholderValues {
    const seconds = Math.ceil(walltime / 1000);
    const two = (count: number): string => String(count).padStart(2, '0');
    return new Map<string, string | readonly string[]>([
      ['key', key],
      ['user', this.#options.user],
      ['width', String(width)],
      ...slotValues({ width, ...(slot === undefined ? {} : { slot }) }, this.#options.templates.limits),
      ['walltime_s', String(seconds)],
      ['walltime_min', String(Math.ceil(seconds / 60))],
      ['walltime_hms', `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`],
      ['log', this.#files.logPath(key)],
      ['script', script],
      ['flags', this.#options.flags],
    ]);
  }

  async #cancel(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { command, gone } = this.#options.templates.cancel;
    const failures = new Map<string, string>();
    const calls = command.includes('{ids}') ? [ids] : ids.map((id) => [id]);
    for (const some of calls) {
      const { status, stdout, stderr } = await this.#run(
        command,
        new Map<string, string | readonly string[]>([
          ['ids', some],
          ['id', some[0] ?? ''],
        ]),
      );
      // If one of several in a call failed, its output does not say which. The next listing shows what is left, and
      // that is released again.
      const lines = `${stdout}\n${stderr}`
        .split('\n')
        .filter((line) => line.trim() !== '' && gone?.test(line) !== true);
      if (status !== 0 && (lines.length > 0 || gone === undefined))
        for (const id of some) failures.set(id, `${command[0]}: ${listWords(lines.join('\n'))}`);
    }
    return failures;
  }

  async #list(): Promise<QueuedRequest[]> {
    const {
      templates: { queue },
      user,
    } = this.#options;
    const listing = parseListing(await this.#read(queue.command, new Map([['user', user]])), queue);
    if (listing.kind === 'garbage')
      throw new MutiraoError('MUT_UNREACHABLE', `${queue.command[0]} did not print a queue: ${listing.why}`);
    return listing.requests.map((request) => (request.userId === '' ? { ...request, userId: user } : request));
  }

  /** Where an order was taken twice, since its first answer came too late, all but the first are cancelled. */
  #withoutTwins(alive: readonly QueuedRequest[]): QueuedRequest[] {
    const seen = new Set<string>();
    return alive.filter(({ clientRequestId: key, managerRequestId }) => {
      if (!this.#keysTried.has(key)) return true;
      // The next listing shows it again.
      if (seen.has(key)) this.#cancels.cancel(managerRequestId).catch(() => undefined);
      return seen.size < seen.add(key).size;
    });
  }

  #limit(name: LimitName, output: string): number | undefined {
    const limit = this.#options.templates.limits.values.get(name);
    if (limit === undefined || limit.kind === 'given') return limit?.value;
    const found = [...output.matchAll(limit.pattern)].map(([whole, group]) => parseLimit(name, group ?? whole));
    if (found.length === 0 || found.includes(undefined))
      throw new MutiraoError('MUT_UNREACHABLE', `"limits.${name}.pattern" finds no ${name} in: ${listWords(output)}`);
    return found.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  }

  #withLastWords(request: QueuedRequest): QueuedRequest {
    const key = request.clientRequestId;
    if (!this.#keysTried.has(key)) return request;
    const words = this.#files.lastWords(key);
    return words === ''
      ? request
      : {
          ...request,
          endReason: [request.endReason, `its last words: ${words}`].filter((part) => part !== '').join('; '),
        };
  }

  #remember(key: string, id: string): void {
    const [oldest] = this.#keysTried.keys();
    if (this.#keysTried.size >= keysMax && oldest !== undefined) this.#keysTried.delete(oldest);
    this.#keysTried.set(key, id);
  }

  async #read(command: readonly string[], values: PlaceholderValues): Promise<string> {
    const answer = await this.#run(command, values);
    if (answer.status !== 0)
      throw new MutiraoError('MUT_UNREACHABLE', `status ${answer.status} of ${saidBy(command, answer)}`);
    return answer.stdout;
  }

  #run(words: readonly string[], values: PlaceholderValues, input?: string): Promise<ToolAnswer> {
    const [command = '', ...args] = fillTemplate(words, values);
    const { environment, deadlineMs } = this.#options;
    const own = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('MUTIRAO_')));
    return runTool({
      command,
      args,
      deadlineMs,
      hasStatusesOfItsOwn: true,
      outputBytesMax,
      signal: this.#closed.signal,
      env: { ...own, TZ: 'UTC' },
      ...(input === undefined ? {} : { input }),
    });
  }
}

function saidBy(command: readonly string[], { stdout, stderr }: ToolAnswer): string {
  return `${command[0]}: ${listWords(stderr === '' ? stdout : stderr)}`;
}
