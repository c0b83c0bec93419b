import type { ChartOption } from '../charts/look.ts';

type Formatter = (...reported: unknown[]) => unknown;

/** The option with tips whose text stays text: what ECharts gets as a string it takes for markup. */
export function withPlainTips(option: ChartOption, label: string): ChartOption {
  const formatter = (option.tooltip as { readonly formatter?: Formatter } | undefined)?.formatter;
  const tooltip =
    typeof formatter !== 'function'
      ? { show: false }
      : {
          ...option.tooltip,
          formatter: (...reported: unknown[]) => {
            const said = formatter(...reported);
            if (typeof said !== 'string' || said === '') return '';
            const element = document.createElement('div');
            element.className = 'chart-tip';
            element.textContent = said;
            return element;
          },
        };
  return { ...option, tooltip, aria: { enabled: true, label: { description: label } } } as ChartOption;
}
