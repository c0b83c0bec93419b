import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { chartKinds } from '../../../client/src/charts/kinds.ts';
import type { ChartOption } from '../../../client/src/charts/look.ts';
import { escapeMarkup } from './escape-markup.ts';

use([...chartKinds, SVGRenderer]);

/**
 * Draws a chart of the page as an SVG document, without a browser; width and height in pixels. `title` describes it for
 * screen readers.
 */
export function drawChartSvg(
  option: ChartOption,
  { width, height, title }: { readonly width: number; readonly height: number; readonly title: string },
): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ ...option, animation: false });
    return chart
      .renderToSVGString({ useViewBox: true })
      .replace('>', () => ` role="img"><title>${escapeMarkup(title)}</title>`);
  } finally {
    chart.dispose();
  }
}
