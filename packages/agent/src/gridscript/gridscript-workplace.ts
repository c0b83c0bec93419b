import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { sayCause } from '@mutirao/api/reasons';
import { getSlot, noResult, type AgentInput, type HeldReplica, type Verdict } from '@mutirao/core/machines/agent';
import type { Content, OutputContent } from '@mutirao/core/messages';
import type { ResourceCapacity } from '@mutirao/core/resources';
import type { Bytes, Duration } from '@mutirao/core/shared';
import { removeTree } from '@mutirao/runtime/files';
import type { Logger } from '@mutirao/runtime/log';
import { renderAssignments } from '@mutirao/runtime/processes';
import { inlineMax, inlineTotalMax, readOutput, type WaysHome } from '../collect-outputs.ts';
import { ContentCache } from '../content-cache.ts';
import { Gate } from '../gate.ts';
import { getFolderName } from '../storages.ts';
import { baseEnvironment, TaskRenderer } from '../task-environment.ts';
import type { Workplace } from '../workplace.ts';
import { readOutputs, type ReportedFile, type ReportedOutputs } from './answers.ts';
import { RemoteContents } from './remote-contents.ts';
import type { RemoteMachine } from './remote-machine.ts';
import { RemoteRun } from './remote-run.ts';
import { filesMax, listScript, placeScript, removeScript, type RunFolders } from './scripts.ts';

/** What a workplace of templates is made of. */
export interface GridScriptOptions {
  readonly machine: RemoteMachine;
  readonly machineId: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly capacity: ResourceCapacity;
  /** A folder of this host. */
  readonly folder: string;
  readonly contentBytesMax: Bytes;
  readonly log: Logger;
  /** The machine does not answer any more; said once. */
  onUnreachable(error: MutiraoError): void;
}

/** Scripts and copies that go on at a time, in addition to tasks: sshd refuses more than ten greetings at once. */
const templatesMax = 6;
/** Time that a killed task has to be seen as ended before nobody waits any more. */
const killedPatience: Duration = 10_000;
const listingBytesMax = 64 * 2 ** 20;

/** The work of an agent done by templates, on a machine where no Mutirao program runs. */
export class GridScriptWorkplace implements Workplace {
  /** All users' together: the machine that runs the tasks has one folder for them. */
  readonly keepsUsersApart = false;
  private readonly cache: ContentCache;
  private readonly options: GridScriptOptions;
  private readonly deliver: (input: AgentInput) => void;
  private readonly contents: RemoteContents;
  private readonly renderer: TaskRenderer;
  /** Variables of every task, in shell syntax. */
  private readonly exports: string;
  private readonly gate = new Gate(templatesMax);
  /** By slot. */
  private readonly runs = new Map<number, RemoteRun>();
  private readonly removals = new Set<Promise<void>>();
  private runCount = 0;
  private isOver = false;

  /** Use `open`. */
  private constructor(options: GridScriptOptions, cache: ContentCache, deliver: (input: AgentInput) => void) {
    this.options = options;
    this.cache = cache;
    this.deliver = deliver;
    this.renderer = new TaskRenderer('', options.capacity);
    const { base, templates } = options.machine;
    this.exports = renderAssignments(baseEnvironment({}, options.attributes, options.machineId));
    this.contents = new RemoteContents(options.contentBytesMax, ({ sha256 }) =>
      this.gate.run(() => templates.copyTo(cache.store.path(sha256), `${base}/contents/${sha256}.part`)),
    );
  }

  /** @param deliver receives the ends of tasks. @throws Error of the file system. */
  static async open(options: GridScriptOptions, deliver: (input: AgentInput) => void): Promise<GridScriptWorkplace> {
    const cache = await ContentCache.open(path.join(options.folder, 'contents'), options.contentBytesMax);
    return new GridScriptWorkplace(options, cache, deliver);
  }

  cacheOf(): ContentCache {
    return this.cache;
  }

  async stageIn(replica: HeldReplica): Promise<void> {
    const run = this.begin(replica);
    const { inputs } = replica.start;
    const contents: Content[] = inputs.map(({ content }) => content);
    try {
      for (let attempt = 1; ; attempt++) {
        const missing = await this.place(run, contents);
        if (missing === undefined) return;
        if (attempt === 2)
          throw new MutiraoError('MUT_STAGING_FAILED', `content ${missing} does not arrive whole on the machine`);
        this.contents.forget(missing);
      }
    } catch (error) {
      throw await this.look(error);
    }
  }

  launch(replica: HeldReplica): void {
    const { workFolder } = replica.template;
    if (workFolder !== undefined)
      return this.refuse(replica, {
        outcome: 'failed',
        reason: 'MUT_WORK_FOLDER',
        detail:
          'a machine that is driven by templates shares no files with home, and the job works in ' +
          `${workFolder.path}`,
      });
    const run =
      replica.start.inputs.length > 0 ? (this.runs.get(getSlot(replica)) ?? this.begin(replica)) : this.begin(replica);
    const { line, environment } = this.renderer.render(replica, run.folders);
    void run.run(line, `${this.exports} ${environment}`).then((end) => {
      if (this.isOver) return;
      this.deliver({ kind: 'ProcessEnded', replicaId: replica.start.replicaId, ...end });
      if (end.verdict?.outcome === 'broken')
        void this.look(new MutiraoError('MUT_TEMPLATE_FAILED', sayCause(end.verdict.detail)));
    });
  }

  private refuse(replica: HeldReplica, verdict: Verdict): void {
    this.deliver({ kind: 'ProcessEnded', replicaId: replica.start.replicaId, verdict, result: noResult });
  }

  signal(replica: HeldReplica, signal: 'SIGTERM' | 'SIGKILL'): void {
    const run = this.runs.get(getSlot(replica));
    if (run?.replica !== replica) return;
    void run.signal(signal).then(() => {
      if (signal === 'SIGKILL')
        setTimeout(() => {
          run.giveUp();
        }, killedPatience).unref();
    });
  }

  async collect(replica: HeldReplica, { push, keep }: WaysHome): Promise<OutputContent[]> {
    const run = this.runs.get(getSlot(replica));
    if (run === undefined) throw new MutiraoError('MUT_OUTPUT_MISSING', 'the run is gone');
    const spool = path.join(this.options.folder, 'outputs', path.basename(run.folders.run));
    mkdirSync(spool, { recursive: true, mode: 0o700 });
    try {
      return await this.collectInto(spool, run, { push, ...(keep === undefined ? {} : { keep }) });
    } catch (error) {
      throw await this.look(error);
    } finally {
      removeTree(spool);
    }
  }

  /** All outputs of a replica, or of one that has failed those that are there and can be read. */
  private async collectInto(spool: string, run: RemoteRun, ways: WaysHome): Promise<OutputContent[]> {
    const {
      start: { outputs },
      verdict,
    } = run.replica;
    const isPartial = verdict !== undefined;
    const answer = await this.ask(
      listScript(run.folders, outputs, { each: inlineMax, total: inlineTotalMax, isPartial }),
      listingBytesMax,
    );
    const collected: OutputContent[] = [];
    for (const file of getFiles(readOutputs(answer), (index) => outputs[index]?.path ?? '')) {
      try {
        collected.push(await this.bring(run, { file, spool, isKept: outputs[file.outputIndex]?.keep ?? false, ways }));
      } catch (error) {
        if (!isPartial) throw error;
      }
    }
    return collected;
  }

  release(slot: number): void {
    const run = this.runs.get(slot);
    if (run === undefined) return;
    this.runs.delete(slot);
    // What is not removed now goes when an agent opens the folder again.
    const removal = this.ask(removeScript(run.folders)).then(
      (answer) => {
        const left = answer.toString().trim();
        if (left !== '') this.options.log.warn({ run: run.folders.run, left }, 'cannot remove files of a task');
      },
      (error: unknown) => {
        this.options.log.warn({ run: run.folders.run, err: error }, 'cannot remove a playpen');
      },
    );
    this.removals.add(removal);
    void removal.then(() => this.removals.delete(removal));
  }

  /** Kills what runs, as far as the machine can be reached in time. */
  async end(): Promise<void> {
    this.isOver = true;
    const kills = [...this.runs.values()].map((run) =>
      run.signal('SIGKILL').then(() => {
        run.giveUp();
      }),
    );
    await withinTime(Promise.all([...kills, ...this.removals]), 3000);
    for (const run of this.runs.values()) run.giveUp();
  }

  close(): void {
    removeTree(path.join(this.options.folder, 'outputs'));
  }

  private begin(replica: HeldReplica): RemoteRun {
    const { base, templates } = this.options.machine;
    const folder = `${base}/runs/${++this.runCount}`;
    const folders: RunFolders = {
      base,
      run: folder,
      playpen: `${folder}/playpen`,
      storage: `${base}/storage/${getFolderName(replica.template.userId)}`,
    };
    const run = new RemoteRun(replica, folders, templates);
    this.runs.set(getSlot(replica), run);
    return run;
  }

  private ask(script: string, outputBytesMax?: number): Promise<Buffer> {
    return this.gate.run(() =>
      this.options.machine.templates.ask(script, outputBytesMax === undefined ? {} : { outputBytesMax }),
    );
  }

  private async place({ folders, replica }: RemoteRun, contents: readonly Content[]): Promise<string | undefined> {
    try {
      await this.contents.hold(contents);
      const placings = replica.start.inputs.map(({ root, path: place, content, mode }) => ({
        ...content,
        root,
        path: place,
        mode,
      }));
      const answer = await this.ask(placeScript(folders, placings, this.contents.takeExcess()));
      return this.judgePlacing(replica, answer.toString().trim());
    } finally {
      this.contents.letGo(contents);
    }
  }

  /** The content that is missing; undefined when all is in place. @throws {MutiraoError} */
  private judgePlacing(replica: HeldReplica, answer: string): string | undefined {
    const [word = '', value = ''] = answer.split(' ');
    if (word === 'ok') return undefined;
    if (word === 'missing') return value;
    const shown = JSON.stringify(replica.start.inputs[Number(value)]?.path ?? '');
    throw word === 'escapes'
      ? new MutiraoError('MUT_PATH_ESCAPES', `path is ${shown}; a symbolic link leads out of the root`)
      : new MutiraoError(
          word === 'folder' ? 'MUT_INPUT_UNPLACEABLE' : 'MUT_STAGING_FAILED',
          `input ${shown} cannot be put: ` +
            `${word === 'folder' ? 'a folder of that name is in the way' : JSON.stringify(answer)}`,
        );
  }

  private async bring(
    run: RemoteRun,
    {
      file,
      spool,
      isKept,
      ways,
    }: { readonly file: ReportedFile; readonly spool: string; readonly isKept: boolean; readonly ways: WaysHome },
  ): Promise<OutputContent> {
    const { outputIndex, path: below, number, mode, inline } = file;
    if (inline !== undefined) return readOutput({ outputIndex, path: below, mode, inline }, ways);
    const local = path.join(spool, String(number));
    await this.gate.run(() => this.options.machine.templates.copyFrom(`${run.folders.run}/outputs/${number}`, local));
    try {
      return await readOutput({ outputIndex, path: below, mode, file: local, isKept }, ways);
    } finally {
      rmSync(local, { force: true });
    }
  }

  /**
   * After a template failed, asks whether the machine answers at all.
   *
   * @returns the error, as MUT_DISK_FULL if the disk was full.
   */
  private async look(error: unknown): Promise<unknown> {
    if (!(error instanceof MutiraoError) || error.code !== 'MUT_TEMPLATE_FAILED' || this.isOver) return error;
    if (/no space left|disk quota exceeded/i.test(error.message))
      return new MutiraoError('MUT_DISK_FULL', error.message, { cause: error });
    try {
      await this.ask('answer; finish\n');
    } catch (silence) {
      if (!this.isOver && silence instanceof MutiraoError) this.options.onUnreachable(silence);
    }
    return error;
  }
}

/**
 * @throws {MutiraoError} MUT_OUTPUT_MISSING, MUT_OUTPUT_UNREADABLE, MUT_OUTPUT_LINK, MUT_OUTPUT_FILES_MAX,
 * MUT_PATH_ESCAPES, MUT_TEMPLATE_FAILED
 */
function getFiles(reported: ReportedOutputs, nameOf: (index: number) => string): readonly ReportedFile[] {
  if (reported.kind === 'files')
    return reported.files.toSorted(
      (one, other) => one.outputIndex - other.outputIndex || (one.path < other.path ? -1 : 1),
    );
  if (reported.kind === 'garbled')
    throw new MutiraoError('MUT_TEMPLATE_FAILED', 'remExec does not bring what was written as it was written');
  const shown = nameOf(reported.outputIndex);
  switch (reported.kind) {
    case 'missing':
      throw new MutiraoError('MUT_OUTPUT_MISSING', `output "${shown}" was not there when the command had ended`);
    case 'other':
      throw new MutiraoError(
        'MUT_OUTPUT_UNREADABLE',
        `output "${shown}" is or holds a FIFO, socket or device; only files and folders are brought home`,
      );
    case 'unreadable':
      throw new MutiraoError(
        'MUT_OUTPUT_UNREADABLE',
        `output "${shown}" or something in it cannot be read: permission denied`,
      );
    case 'link':
      throw new MutiraoError(
        'MUT_OUTPUT_LINK',
        `output "${shown}" holds a link that leads out of the task's own folders, nowhere, or to a folder that ` +
          'it is in',
      );
    case 'many':
      throw new MutiraoError('MUT_OUTPUT_FILES_MAX', `output "${shown}" holds more than ${filesMax} files`);
    case 'escapes':
      throw new MutiraoError(
        'MUT_PATH_ESCAPES',
        `path is ${JSON.stringify(shown)}; a symbolic link leads out of the root`,
      );
  }
}

async function withinTime(work: Promise<unknown>, duration: Duration): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    work,
    new Promise((resolve) => {
      timer = setTimeout(resolve, duration);
    }),
  ]);
  clearTimeout(timer);
}
