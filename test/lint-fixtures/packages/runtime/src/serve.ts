export const serve = 'serve';
