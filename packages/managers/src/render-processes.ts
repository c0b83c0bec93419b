import { quoteWord } from '@mutirao/runtime/processes';
import type { AllocationOrder } from './resource-manager.ts';
import { renderBeginning } from './script-beginning.ts';

/**
 * Renders the program that starts a number of processes on one host, from an index on. It holds the agents' credential.
 */
export function renderProcesses(order: AllocationOrder, walltimeMs: number): string {
  return [
    ...renderBeginning(order, walltimeMs),
    'index=$1; end=$(($1 + $2)); started=; status=0',
    'while [ "$index" -lt "$end" ]; do',
    `  MUTIRAO_PROCESS_INDEX="$index" ${order.command.map(quoteWord).join(' ')} </dev/null &`,
    '  started="$started $!"; index=$((index + 1))',
    'done',
    'for one in $started; do wait "$one" || status=$?; done',
    'exit "$status"',
    '',
  ].join('\n');
}
