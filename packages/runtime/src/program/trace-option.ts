import { text } from '../config/index.ts';

/** The option of every process that has its machine's debugging trace written. */
export const traceOption = text({
  help:
    'Where to write a debugging trace for "mutirao sim replay"; nothing is overwritten, an existing FILE.jsonl ' +
    'makes it FILE.2.jsonl. It holds commands and output of tasks.',
  placeholder: 'FILE',
  default: '',
});
