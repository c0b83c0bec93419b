export { PassingBytes } from './passing-bytes.ts';
