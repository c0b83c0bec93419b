import { isPacked, ownCommandLine } from '@mutirao/runtime/processes';

/** This program on this machine, and on those that share its files; quoted for a shell. */
export const ownCommand = ownCommandLine()
  .map((word, index) => (index === 0 && !isPacked ? 'node' : `'${word.replaceAll("'", "'\\''")}'`))
  .join(' ');
