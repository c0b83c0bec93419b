export const simulate = 'simulate';
