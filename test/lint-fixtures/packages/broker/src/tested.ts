// not-to-test
import { case1 } from '../../core/test/case.ts';
export const tested = case1;
