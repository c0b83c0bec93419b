import type { Command } from 'commander';

import type { JobEvent, WatchJobRequest, WatchJobResponse } from '@mutirao/api/broker';
import { MutiraoError, registry } from '@mutirao/api/errors';
import type { BrokerClient } from '@mutirao/runtime/clients';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { eventJson } from '../json/documents.ts';
import { writeJson, writeLine, type Output } from '../output/output.ts';
import { showInstant } from '../output/units.ts';
import { resolveJobId } from '../selectors.ts';

/** Which events are wanted. */
export interface EventsOptions {
  readonly job?: string;
  readonly after: string;
  readonly follow?: true;
}

export function define(command: Command, act: Act): void {
  command
    .option('--job <job>', 'only events of this job: a number, or "last"')
    .option('--after <sequence>', 'only events with a greater sequence number', '0')
    .option('-f, --follow', 'keep printing until Ctrl-C, also while the broker restarts')
    .action((options: EventsOptions) => act((context) => printEvents(context, options)));
}

/** The largest message: without it, messages are bounded to what clients of any language accept. */
const taskIndexesMax = 1_000_000;

/** How long to leave an absent broker alone before asking again. */
const retryMs = 500;

/** Prints events in their order, each once. */
export async function printEvents(context: CommandContext, options: EventsOptions): Promise<ExitStatus> {
  if (!/^\d+$/.test(options.after))
    throw new MutiraoError('MUT_BAD_REQUEST', `--after is "${options.after}"; expected an integer of 0 or more`);
  const broker = await context.broker();
  const jobId = options.job === undefined ? 0 : await resolveJobId(broker, options.job);
  const position: Position = { after: Number(options.after), eventCount: 0, journalInstance: undefined };
  if (options.follow !== true) {
    await print(context.output, broker.watchJob(findRequest(jobId, position), context.signal), {
      position,
      untilReportedAll: true,
    });
    return 0;
  }
  await follow(context, broker, { jobId, position });
  return 0;
}

async function follow(
  context: CommandContext,
  broker: BrokerClient,
  { jobId, position }: { readonly jobId: number; readonly position: Position },
): Promise<void> {
  while (!context.signal.aborted) {
    try {
      await print(context.output, broker.watchJob(findRequest(jobId, position), context.signal), {
        position,
        untilReportedAll: false,
      });
    } catch (error) {
      if (context.signal.aborted) break;
      if (!(error instanceof MutiraoError)) throw error;
      if (error.code === 'MUT_JOURNAL_POSITION') startOver(context.output, position, error);
      else if (!registry[error.code].retryable) throw error;
    }
    await context.sleep(retryMs);
  }
}

function findRequest(jobId: number, { after, eventCount, journalInstance }: Position): WatchJobRequest {
  const place = { afterSequence: after, afterEventCount: eventCount };
  return { jobId, ...place, taskIndexesMax, ...(journalInstance === undefined ? {} : { journalInstance }) };
}

/**
 * Starts from the beginning of another journal, for example after a restore: its events differ from those of the
 * journal that the last printed one came from.
 */
function startOver(output: Output, position: Position, { message }: MutiraoError): void {
  output.note(
    `The broker has another journal, for example after a restore (${message}); printing its events from the beginning.`,
  );
  position.after = 0;
  position.eventCount = 0;
  position.journalInstance = undefined;
}

interface Position {
  after: number;
  /** Events of the change behind `after` that were printed already. */
  eventCount: number;
  /** Of the journal that `after` is of; undefined before the first message. */
  journalInstance: string | undefined;
}

interface Reading {
  /** Moves on with what was printed. */
  readonly position: Position;
  /** Whether to stop when the broker has sent all events so far. */
  readonly untilReportedAll: boolean;
}

async function print(
  output: Output,
  stream: AsyncIterable<WatchJobResponse>,
  { position, untilReportedAll }: Reading,
): Promise<void> {
  for await (const { events, lastSequence, lastEventCount = 0, journalInstance } of stream) {
    position.journalInstance = journalInstance ?? position.journalInstance;
    for (const event of events) printEvent(output, event);
    position.after = lastSequence ?? events.at(-1)?.sequence ?? position.after;
    position.eventCount = lastEventCount;
    if (untilReportedAll && events.length === 0) return;
  }
}

function printEvent(output: Output, event: JobEvent): void {
  switch (output.mode) {
    case 'json':
      writeJson(output, eventJson(event), 0);
      break;
    case 'quiet':
      writeLine(output, String(event.sequence));
      break;
    case 'table':
      writeLine(output, eventLine(event));
      break;
  }
}

function eventLine(event: JobEvent): string {
  const { taskIndexes: tasks, taskCount = tasks.length } = event;
  return [
    String(event.sequence).padStart(6),
    showInstant(event.atUnixMs),
    event.type.padEnd(18),
    event.jobId === 0 ? '' : `job ${event.jobId}`,
    tasks.length === 0
      ? ''
      : `${tasks.length === 1 ? 'task' : 'tasks'} ` +
        `${tasks.slice(0, 8).join(',')}${tasks.length > 8 ? `,... (${taskCount})` : ''}`,
    placeOf(event),
    event.reason === '' ? '' : `(${event.reason})`,
  ]
    .filter((part) => part !== '')
    .join('  ');
}

function placeOf({ machineId, providerId, requestId }: JobEvent): string {
  if (machineId !== '') return `on ${machineId}`;
  if (requestId !== '') return `request ${providerId}/${requestId}`;
  return providerId === '' ? '' : `provider ${providerId}`;
}
