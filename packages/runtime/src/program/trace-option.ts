import { text } from '../config/index.ts';

/** The option of every process that has its machine's debugging trace written. */
export const traceOption = text({
  help:
    'Write a debugging trace for "mutirao sim replay". It holds commands and output of tasks. An existing ' +
    'FILE.jsonl is kept; FILE.2.jsonl is written then.',
  placeholder: 'FILE',
  default: '',
});
