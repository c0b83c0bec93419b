// machines-talk-by-messages
import { fixture } from '../provider/step.ts';
export const broker = fixture;
