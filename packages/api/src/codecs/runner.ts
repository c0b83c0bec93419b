import type { Runner } from '@mutirao/core/messages';
import type { Runner as RunnerWire } from '../generated/mutirao/common/v1/common.ts';
import { badRequest } from './common.ts';

/** Of its command; longer ones would not fit an argument. */
const commandBytesMax = 64 * 1024;

/**
 * Reads a runner; nothing where there is none. One of an unknown version is kept: machines that do not know it run the
 * command. @throws {MutiraoError} MUT_BAD_REQUEST.
 */
export function decodeRunner(wire: RunnerWire | undefined, field: string): { readonly runner?: Runner } {
  if (wire === undefined) return {};
  const { command, protocolVersion } = wire;
  if (command.trim() === '') throw badRequest(`${field}.command is empty; expected a line for the shell`);
  if (command.includes('\0')) throw badRequest(`${field}.command contains a NUL byte; expected text without one`);
  const size = Buffer.byteLength(command);
  if (size > commandBytesMax)
    throw badRequest(`${field}.command has ${size} bytes; expected at most ${commandBytesMax}`);
  if (protocolVersion < 1) throw badRequest(`${field}.protocol_version is ${protocolVersion}; expected 1 or more`);
  return { runner: { command, protocolVersion } };
}
