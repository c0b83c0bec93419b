import { resolve } from 'node:path';
import { decodeText } from '@mutirao/formats';
import { parseWorkflow, type WorkflowDocument } from '@mutirao/formats/workflow';

import type { CommandContext } from '../context.ts';
import { readPacked } from './read-file.ts';

/**
 * Reads a workflow file, gzipped or not, and notes what is odd in it.
 *
 * @throws {MutiraoError} MUT_FILE_NOT_FOUND, MUT_BAD_REQUEST; {FormatError} of `parseWorkflow`
 */
export function readWorkflowFile({ directory, output }: CommandContext, file: string): WorkflowDocument {
  const document = parseWorkflow(decodeText(readPacked(file, resolve(directory, file)), file), file);
  for (const warning of document.warnings) output.note(`${file}: ${warning}`);
  return document;
}
