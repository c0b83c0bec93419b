import { resolve } from 'node:path';
import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { encodeValue } from '@mutirao/core/debugging-trace';
import { parseDuration } from '@mutirao/formats';
import { TraceReplay, type ReplayProblem, type ReplayReport, type TracePoint } from '@mutirao/sim/replay';
import { describe, Story } from '@mutirao/sim/story';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { writeLine } from '../../output/output.ts';
import { renderPairs } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showInstant } from '../../output/units.ts';
import { readWhole } from '../../simulation/numbers.ts';
import { readLines } from '../../simulation/read-lines.ts';

/** What `sim replay` takes. */
export interface ReplayCommandOptions {
  readonly from?: string;
  readonly until?: string;
  readonly about?: readonly string[];
}

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a debugging trace that a process wrote with --trace, may be gzipped')
    .option('--from <turn|time>', 'start at this turn, or this long after the start: 120, 3.5s')
    .option('--until <turn|time>', 'stop at this turn, or this long after the start')
    .option(
      '--about <id...>',
      'print each input and command that concerns these ids: r17, t3, j5.t3, alpha/q3, a machine, a ' +
        'provider, or "all"',
    )
    .action((file: string, options: ReplayCommandOptions) => act((context) => replayTrace(context, file, options)));
}

/** Runs a machine over its debugging trace; the exit status says whether it decided the same. */
export async function replayTrace(
  context: CommandContext,
  file: string,
  options: ReplayCommandOptions,
): Promise<ExitStatus> {
  const [from, until] = [readPoint('--from', options.from), readPoint('--until', options.until)];
  const about = (options.about ?? []).flatMap((given) => given.split(',')).filter((id) => id !== '');
  const lines: string[] = [];
  const report = await runReplay(context, file, { from, until, about, receive: onStory(context, lines) });
  if (from !== undefined && report.comparedCount === 0 && report.problem === undefined) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--from is "${options.from ?? ''}"; expected one of the ${report.turnCount} turns of ${file}, of which one at ` +
        'least has an outcome',
    );
  }
  if (report.isHalfLineDropped) context.output.note(`the last line of ${file} is incomplete and was ignored`);
  printResult(context.output, {
    json: () => getDocument(file, report, about.length === 0 ? null : lines),
    table: () => getTable(report),
    quiet: () => (report.problem === undefined ? [] : [report.problem.turn]),
  });
  return report.problem === undefined ? 0 : 1;
}

/** A table is printed line by line; JSON is one document. */
function onStory({ output }: CommandContext, lines: string[]): (line: string) => void {
  return output.mode === 'table'
    ? (line) => {
        writeLine(output, line);
      }
    : (line) => {
        lines.push(line);
      };
}

interface ReplayOutput {
  readonly from: TracePoint | undefined;
  readonly until: TracePoint | undefined;
  readonly about: readonly string[];
  receive(line: string): void;
}

async function runReplay(
  { directory, signal }: CommandContext,
  file: string,
  { from, until, about, receive }: ReplayOutput,
): Promise<ReplayReport> {
  let story: Story | undefined;
  const replay = new TraceReplay({
    file,
    from,
    until,
    onHead: ({ at }) => {
      story = new Story(about, at);
    },
    ...(about.length === 0
      ? {}
      : {
          onEvent: (event) => {
            const line = story?.report(event);
            if (line !== undefined) receive(line);
          },
        }),
  });
  let rest = '';
  for await (const { text, isWhole } of readLines(file, resolve(directory, file))) {
    if (signal.aborted) throw new MutiraoError('MUT_CANCELLED', 'the replay was interrupted');
    if (isWhole) replay.take(text);
    else rest = text;
    if (replay.isOver) break;
  }
  return replay.finish(rest);
}

/**
 * A number is a turn, a duration a time since the start. @throws {MutiraoError | FormatError} MUT_BAD_REQUEST and those
 * of durations.
 */
function readPoint(option: string, text: string | undefined): TracePoint | undefined {
  if (text === undefined) return undefined;
  if (/^\d/.test(text) && !/^[\d_]+$/.test(text)) return { kind: 'time', time: parseDuration(text) };
  return { kind: 'turn', turn: readWhole(option, text, { min: 1, max: Number.MAX_SAFE_INTEGER }) };
}

const endings = { stopped: 'it was stopped', failed: 'it failed', cut: 'the trace does not say how it ended' } as const;

function getTable(report: ReplayReport): string[] {
  const { head, turnCount, comparedCount, span, problem } = report;
  const inputs = [...report.inputCounts]
    .sort(([, one], [, other]) => other - one)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
  return [
    ...renderPairs([
      ['machine', `${head.machine} of release ${head.release}, began ${showInstant(head.at)}`],
      ['ran', `${turnCount} turns over ${(span / 1000).toFixed(3)} s; ${comparedCount} compared`],
      ['inputs', inputs],
      ['decided', `${report.changeCount} changes, ${report.commandCount} commands`],
      ['process', report.endError === '' ? endings[report.end] : `${endings[report.end]}: ${report.endError}`],
      ['replay', problem === undefined ? 'the same, and no invariant is broken' : problem.message],
    ]),
    ...(problem === undefined ? [] : problemLines(problem, head.at)),
  ];
}

function problemLines({ turn, line, now, inputs, difference }: ReplayProblem, start: number): string[] {
  const shown = inputs.slice(0, 20).map((input) => `  <- ${describe(input as { readonly kind: string }, { start })}`);
  return [
    '',
    `turn ${turn}, line ${line} of the trace, ${((now - start) / 1000).toFixed(3)} s after the start:`,
    ...shown,
    ...(shown.length < inputs.length ? [`  <- ... ${inputs.length} inputs in all`] : []),
    ...(difference === undefined
      ? []
      : [`  expected ${shortValue(difference.expected)}`, `  found    ${shortValue(difference.found)}`]),
  ];
}

function shortValue(value: unknown): string {
  const text = value === undefined ? 'nothing' : jsonText(value);
  return text.length <= 400 ? text : `${text.slice(0, 400)}...`;
}

function getDocument(
  file: string,
  report: ReplayReport,
  story: readonly string[] | null,
): JsonOf<typeof shapes.machine_replay> {
  const { head, problem } = report;
  return {
    file,
    machine: head.machine,
    release: head.release,
    began_unix_ms: head.at,
    span_ms: report.span,
    turn_count: report.turnCount,
    compared_count: report.comparedCount,
    input_counts: Object.fromEntries(report.inputCounts),
    change_count: report.changeCount,
    command_count: report.commandCount,
    end: report.end,
    end_error: report.endError,
    half_line_dropped: report.isHalfLineDropped,
    same: problem === undefined,
    problem: problem === undefined ? null : problemJson(problem),
    story,
  };
}

function problemJson({
  kind,
  turn,
  line,
  now,
  inputs,
  message,
  difference,
}: ReplayProblem): JsonOf<typeof shapes.replay_problem> {
  return {
    kind,
    turn,
    line,
    at_unix_ms: now,
    message,
    path: difference?.path ?? '',
    expected: jsonText(difference?.expected),
    found: jsonText(difference?.found),
    inputs: inputs.map((input) => JSON.parse(encodeValue(input)) as unknown),
  };
}

function jsonText(value: unknown): string {
  return value === undefined ? '' : encodeValue(value);
}
