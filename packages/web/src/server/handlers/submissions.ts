import { encodeJobSpec } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { TaskGroup } from '@mutirao/core/messages';
import { parseJdf, readJdf } from '@mutirao/formats';

import type { BagSpec, JdfCheck, JdfSpec } from '../../schema/index.ts';
import { firstCommands, jobOfBag, type DroppedContent } from '../bag-spec.ts';
import { bagOfJob } from '../documents/bag-of-job.ts';
import { getCommandLine } from '../command-line.ts';
import type { GatewayParts } from '../grid-calls.ts';
import type { JobSpecs } from '../job-specs.ts';
import type { Handlers } from '../requests.ts';
import { requireAbsolute, submit } from '../submit.ts';

const droppedBytesMax = 24 * 1024 * 1024;
/** Stands for contents that nobody has been sent yet. */
const noContent = { sha256: '0'.repeat(64), size: 0 };

/** Jobs that are submitted by hand. */
export function submissionHandlers(
  parts: GatewayParts,
  specs: JobSpecs,
): Handlers<'getBagDraft' | 'previewBag' | 'submitBag' | 'checkJdf' | 'submitJdf'> {
  return {
    getBagDraft: async ({ params }) => bagOfJob(await specs.fetch(params.job_id)),
    previewBag: ({ body }) => {
      const directory = getFolder(parts, body);
      const [group] = jobOfBag(
        body,
        directory,
        (body.files ?? []).map(({ name }) => ({ name, content: noContent })),
      ).groups;
      return {
        task_count: group === undefined ? 0 : findTaskCount(group),
        first_commands: group === undefined ? [] : firstCommands(group),
        command_line: getCommandLine(body, { directory, program: parts.program }, listCommands(group)),
      };
    },
    submitBag: async ({ body }) => {
      const directory = getFolder(parts, body);
      // Mistakes are reported before anything is sent.
      jobOfBag(body, directory, []);
      return submit(parts, encodeJobSpec(jobOfBag(body, directory, await uploadDropped(parts, body))), body);
    },
    checkJdf: ({ body }) => checkJdf(parts, body),
    submitJdf: async ({ body }) => {
      const { job } = parseJdf(body.text, { file: body.name ?? 'the job file', directory: getFolder(parts, body) });
      return submit(parts, encodeJobSpec({ ...job, label: body.label ?? job.label }), body);
    },
  };
}

function getFolder({ directory }: GatewayParts, spec: { readonly directory?: string }): string {
  requireAbsolute(spec.directory);
  return spec.directory ?? directory;
}

/** The whole command lines of a bag whose values are a table. */
function listCommands(group: TaskGroup | undefined): readonly string[] {
  return group?.values.kind === 'list' ? group.values.values : [];
}

function findTaskCount({ values }: TaskGroup): number {
  return values.kind === 'range' ? values.count : values.values.length;
}

async function uploadDropped({ grid }: GatewayParts, { files = [] }: BagSpec): Promise<DroppedContent[]> {
  const contents = files.map(({ name, content_base64: text }) => ({ name, bytes: Buffer.from(text, 'base64') }));
  const total = contents.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > droppedBytesMax)
    throw new MutiraoError(
      'MUT_CONTENT_TOO_LARGE',
      `the files that were dropped have ${total} bytes; expected ${droppedBytesMax} at most, or --put from a folder`,
    );
  const dropped: DroppedContent[] = [];
  for (const { name, bytes } of contents) {
    const { sha256, sizeBytes } = await grid.broker().uploadBlob(bytes);
    dropped.push({ name, content: { sha256: Buffer.from(sha256).toString('hex'), size: sizeBytes } });
  }
  return dropped;
}

/** All that is wrong in a job file, or odd. */
function checkJdf(parts: GatewayParts, body: JdfSpec): JdfCheck {
  const { job, faults, isCut, warnings } = readJdf(body.text, {
    file: body.name ?? 'the job file',
    directory: getFolder(parts, body),
  });
  const groups = job?.groups ?? [];
  return {
    faults: [
      ...faults.map(({ code, problem: { line, column, found, expected, nearest } }) => ({
        severity: 'error' as const,
        code,
        line,
        column,
        message: `found ${found}, expected ${expected}`,
        nearest: nearest ?? null,
      })),
      ...warnings.map(({ line, column, message }) => ({
        severity: 'warning' as const,
        code: '',
        line,
        column,
        message,
        nearest: null,
      })),
    ],
    is_cut: isCut,
    label: job?.label ?? '',
    task_count: groups.reduce((sum, group) => sum + findTaskCount(group), 0),
    group_count: groups.length,
  };
}
