export { describeTime, plural } from '../../../shared/index.ts';
