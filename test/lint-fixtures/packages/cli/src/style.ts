async function work(): Promise<void> { return await Promise.resolve(); }
export function style(a: any, b: string, c: string, d: string, e: string): string {
  work();
  // @ts-ignore
  const first = [b, c][0]!;
  if (a == d) console.log(e);
  return first;
}
export const handlers = { onClick: (listener: () => void) => { listener(); } };
handlers.onClick(async () => { await work(); });
export function closed(kind: 'one' | 'two'): number {
  switch (kind) {
    case 'one': return 1;
  }
  return 0;
}
import { Stats } from 'node:fs';
export type Alias = Stats;
