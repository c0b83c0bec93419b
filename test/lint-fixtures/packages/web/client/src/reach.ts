// page-knows-only-the-schema
import { readFileSync } from 'node:fs';

export const read = readFileSync;
