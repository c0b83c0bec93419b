export * from './bag/place.ts';
let moduleState = 0;
export const now = (): number => Date.now() + Math.random() + (moduleState += 1);
export async function wait(): Promise<void> { await new Promise(() => undefined); }
export function names(record: Record<string, number>): string[] {
  const found: string[] = [];
  for (const name in record) found.push(name);
  return found;
}
export const timer = (): unknown => setTimeout(() => undefined, 1);
