// algorithms-know-no-machine
import { fixture } from '../machines/provider/step.ts';
export const place = fixture;
