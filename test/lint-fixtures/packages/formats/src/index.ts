// formats-are-pure
import { readFileSync } from 'node:fs';
export const format = readFileSync;
