import { buildLedgerOption, ledgerHeight } from '../../../client/src/charts/ledger-chart.ts';
import { lightLook } from '../../../client/src/charts/look.ts';
import type { Ledger } from '../../schema/index.ts';
import { drawChartSvg } from './chart-svg.ts';

const width = 800;
const look = { ...lightLook, width };

/** Where the processor-time went, as SVG. */
export function drawLedgerSvg(ledger: Ledger): string {
  return drawChartSvg(
    { ...buildLedgerOption(ledger, look), backgroundColor: look.ground },
    { width, height: ledgerHeight(ledger), title: 'Where the processor-time went' },
  );
}
