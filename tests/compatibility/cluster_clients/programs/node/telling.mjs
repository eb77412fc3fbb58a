// What both programs share; telling.py says what the lines mean.
export const RECORDS = 5
export const PAUSE_MS = 10
export const state = { isEnded: false }

process.stdin.resume()
process.stdin.on('end', () => { state.isEnded = true })

export const tell = (...words) => process.stdout.write(words.join(' ') + '\n')
export const complain = error => tell('error', String(error?.stack?.split('\n')[0] ?? error).replace(/\s+/g, ' '))
export const pause = (ms = PAUSE_MS) => new Promise(resolve => setTimeout(resolve, ms))
export const roleOf = roles => roles[process.argv[2]](process.argv[3].split(','), process.argv[4])
