export const case1 = 1;
