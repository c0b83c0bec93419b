import { quoteWord } from '@mutirao/runtime/processes';
import type { AllocationOrder } from '../resource-manager.ts';
import { renderBeginning } from '../script-beginning.ts';
import { fillTemplate } from './fill-template.ts';
import { countSlotsOf, slotValues } from './slot-values.ts';
import type { ManagerTemplates, SubmitTemplate } from './manager-file.ts';

/**
 * Renders the script of a job that runs an order's command once for each processor.
 *
 * @param processPath the program of one process, for a `launch` that starts it elsewhere; see renderProcess.
 */
export function renderScript(
  order: AllocationOrder,
  templates: Pick<ManagerTemplates, 'submit' | 'limits'>,
  processPath: string,
): string {
  const { launch } = templates.submit;
  const beginning = renderBeginning(order, order.walltime);
  if (launch !== '') {
    const [line = ''] = fillTemplate(
      [launch],
      new Map([
        ['process', `/bin/sh ${quoteWord(processPath)}`],
        ['width', String(order.width)],
        ...slotValues(order, templates.limits),
      ]),
    );
    return [...beginning, line, ''].join('\n');
  }
  const command = order.command.map(quoteWord).join(' ');
  return [
    ...beginning,
    '# What runs here ends with the script.',
    "end() { trap '' TERM; kill 0; exit 143; }",
    'trap end TERM INT HUP',
    'index=0',
    `while [ "$index" -lt ${countSlotsOf(order.width, order.slot)} ]; do`,
    `  MUTIRAO_PROCESS_INDEX="$index" ${command} </dev/null &`,
    '  index=$((index + 1))',
    'done',
    'wait',
    '',
  ].join('\n');
}

/**
 * Renders the program of one process, which a `launch` starts wherever it likes: its environment comes along in the
 * file.
 */
export function renderProcess(order: AllocationOrder, { processIndex }: SubmitTemplate): string {
  return [
    ...renderBeginning(order, order.walltime),
    `export MUTIRAO_PROCESS_INDEX=${processIndex}`,
    `exec ${order.command.map(quoteWord).join(' ')}`,
    '',
  ].join('\n');
}
