import { readFileSync } from 'node:fs';
import { decodeEnrolledMachine, encodeEnrolledMachine } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { EnrolledMachine } from '@mutirao/core/messages';
import { writeAtomic } from '@mutirao/runtime/files';
import { describeError } from '@mutirao/core/shared';

/**
 * Reads the list of machines that a provider keeps; none where there is no file. @throws {MutiraoError} MUT_BAD_CONFIG
 */
export function readMachineRecord(path: string): EnrolledMachine[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  try {
    const { machines } = JSON.parse(text) as { machines: readonly EnrolledMachine[] };
    // By way of the wire's form, whose reader doubts everything.
    return machines.map((machine) => decodeEnrolledMachine(encodeEnrolledMachine(machine)));
  } catch (error) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `${path} is not a list of machines: ${describeError(error)}; correct it, ` +
        'or move it away and add the machines again',
      { cause: error },
    );
  }
}

/** Writes the list, whole or not at all; only its owner can read it. */
export function writeMachineRecord(path: string, machines: readonly EnrolledMachine[]): void {
  writeAtomic(path, `${JSON.stringify({ version: 1, machines }, undefined, 1)}\n`);
}
