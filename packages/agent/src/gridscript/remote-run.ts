import type { HeldReplica, ProcessResult, Verdict } from '@mutirao/core/machines/agent';
import { describeBytes, type Duration } from '@mutirao/core/shared';
import { getVerdict } from '../verdict.ts';
import { readEnd, type ReportedEnd } from './answers.ts';
import { lookScript, outputKeptMax, runScript, signalScript, type RunFolders } from './scripts.ts';
import type { Templates } from './templates.ts';

/** How a run ended, as far as it is known. */
export interface RunEnd {
  readonly result: ProcessResult;
  readonly verdict: Verdict | undefined;
}

/** Longest time that a machine may not be reached while it runs one of our tasks. */
const lostMax: Duration = 300_000;
const lookPauseMin: Duration = 1000;
const lookPauseMax: Duration = 15_000;
/** Times that a run is begun which never came to the machine. */
const beginningsMax = 3;
/** Looks in a row that find neither the run nor its end. */
const goneMax = 2;

const nothing = new Uint8Array(0);

/** One replica's run on a machine that is driven by templates. */
export class RemoteRun {
  readonly replica: HeldReplica;
  readonly folders: RunFolders;
  private readonly templates: Templates;
  private readonly abort = new AbortController();
  private isGivenUp = false;

  constructor(replica: HeldReplica, folders: RunFolders, templates: Templates) {
    this.replica = replica;
    this.folders = folders;
    this.templates = templates;
  }

  /**
   * Runs the task's line to its end, through losses of the connection; never rejects.
   *
   * @param exports the task's variables as assignments in shell syntax.
   */
  async run(line: string, exports: string): Promise<RunEnd> {
    const script = runScript(this.folders, line, exports);
    try {
      for (let beginning = 1; beginning <= beginningsMax && !this.isGivenUp; beginning++) {
        const seen = await this.begin(script);
        if (seen === 'gone')
          return brokenEnd('MUT_LAUNCH_FAILED', 'the machine knows no end of the task that it began');
        if (seen !== 'fresh') return this.describe(seen);
      }
      return brokenEnd('MUT_LAUNCH_FAILED', 'the machine did not begin the task');
    } catch (error) {
      return { result: findResult(undefined), verdict: this.isGivenUp ? undefined : getVerdict(error, 'running') };
    }
  }

  /** Signals the task; a failure to do so shows in its not ending. */
  async signal(name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.templates.ask(signalScript(this.folders, name)).catch(() => undefined);
  }

  /** Waits no longer for the task, which was killed or cannot be reached. */
  giveUp(): void {
    this.isGivenUp = true;
    this.abort.abort();
  }

  private async begin(script: string): Promise<ReportedEnd | 'fresh' | 'gone'> {
    const answer = await this.templates.askTask(script, {
      signal: this.abort.signal,
      outputBytesMax: 2 * outputKeptMax + 1024,
    });
    return (answer === undefined ? undefined : readEnd(answer)) ?? (await this.lookForEnd());
  }

  /**
   * Polls a run whose connection broke until its state is known.
   *
   * @throws {MutiraoError} MUT_TEMPLATE_FAILED when the machine is out of reach for too long.
   */
  private async lookForEnd(): Promise<ReportedEnd | 'fresh' | 'gone'> {
    let unseen = 0;
    let gone = 0;
    for (let pause = lookPauseMin; ; pause = Math.min(2 * pause, lookPauseMax)) {
      try {
        const answer = await this.templates.ask(lookScript(this.folders), {
          signal: this.abort.signal,
          outputBytesMax: 2 * outputKeptMax + 1024,
        });
        unseen = 0;
        const state = answer.toString('latin1', 0, 16).trim();
        const end = readEnd(answer);
        if (end !== undefined) return end;
        if (state === 'fresh') return 'fresh';
        gone = state === 'gone' ? gone + 1 : 0;
        if (gone === goneMax) return 'gone';
      } catch (error) {
        if (this.isGivenUp || unseen > lostMax) throw error;
      }
      await pauseFor(pause, this.abort.signal);
      unseen += pause;
      if (this.isGivenUp) return 'gone';
    }
  }

  private describe(end: ReportedEnd): RunEnd {
    const { outputMax } = this.replica.template.limits;
    const written = end.outBytes + end.errBytes;
    const isOver = outputMax > 0 && written > outputMax;
    const verdict: Verdict | undefined = isOver
      ? {
          outcome: 'limited',
          reason: 'MUT_OUTPUT_MAX',
          detail:
            `${describeBytes(written)} of standard output and error, beyond the limit of ` +
            `${describeBytes(outputMax)}`,
        }
      : undefined;
    return { result: findResult(end, outputMax > 0 ? outputMax : outputKeptMax), verdict };
  }
}

function findResult(end: ReportedEnd | undefined, keptMax = outputKeptMax): ProcessResult {
  const outputBytes = end === undefined ? 0 : end.outBytes + end.errBytes;
  const standardOutput = end?.standardOutput.subarray(0, keptMax) ?? nothing;
  const standardError = end?.standardError.subarray(0, keptMax) ?? nothing;
  return {
    exitStatus: end?.status ?? 137,
    standardOutput,
    standardError,
    outputBytes,
    outputTruncated: outputBytes > standardOutput.length + standardError.length,
  };
}

function brokenEnd(reason: string, detail: string): RunEnd {
  return { result: findResult(undefined), verdict: { outcome: 'broken', reason, detail } };
}

/** Waits, or returns at once when aborted. */
async function pauseFor(duration: Duration, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(over, duration);
    function over(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    }
    signal.addEventListener('abort', over);
  });
}
