import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * The address of a socket in a folder that does not exist yet, which a server makes; `discardSocket` removes the
 * folder.
 */
export function freeSocket(): string {
  return `unix:${join(tmpdir(), `mutirao-test-socket-${randomBytes(6).toString('hex')}`, 'server')}`;
}

/** Removes the folder of a socket that nobody listens at any more. */
export function discardSocket(address: string): void {
  rmSync(dirname(address.slice('unix:'.length)), { recursive: true, force: true });
}
