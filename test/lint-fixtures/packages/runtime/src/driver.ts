// drivers-do-not-meet
import { simulate } from '../../sim/src/simulate.ts';
export const drive = simulate;
