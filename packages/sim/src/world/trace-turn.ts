import { encodeValue } from '@mutirao/core/debugging-trace';
import type { WorldTurn } from './machine-process.ts';
import { worldStart } from './world.ts';

/**
 * A turn as one line of text, with all that went into it and came out of it: the time since the world's start, the
 * process, inputs, changes, commands.
 */
export function traceTurn({ at, process, inputs, changes, commands }: WorldTurn): string {
  return [at - worldStart, process, encodeValue(inputs), encodeValue(changes), encodeValue(commands)].join(' ');
}
