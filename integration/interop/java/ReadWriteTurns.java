import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** Reads, writes, or downgrades. */
final class ReadWriteTurns implements Contest.Turns {
    /** Curator's writers, which do not show the path of the node. */
    private static final class Writers extends InterProcessReadWriteLock.WriteLock {
        Writers(CuratorFramework client, String path) {
            super(client, path, null);
        }

        String node() {
            return getLockPath();
        }
    }

    /** Curator's readers. */
    private static final class Readers extends InterProcessReadWriteLock.ReadLock {
        Readers(CuratorFramework client, String path, Writers writers) {
            super(client, path, null, writers);
        }

        String node() {
            return getLockPath();
        }
    }

    private final Writers writers;
    private final Readers readers;

    ReadWriteTurns(CuratorFramework client, String path) {
        writers = new Writers(client, path);
        readers = new Readers(client, path, writers);
    }

    @Override
    public void take(Ledger ledger) throws Exception {
        int choice = ThreadLocalRandom.current().nextInt(10);
        long asked = System.nanoTime();
        if (choice < 6) {
            if (granted(readers, ledger)) {
                read(ledger, asked, null);
            }
        } else if (granted(writers, ledger)) {
            write(ledger, asked, choice == 9);
        }
    }

    private static boolean granted(InterProcessMutex half, Ledger ledger) throws Exception {
        boolean granted = half.acquire(Ledger.waitLimit(), TimeUnit.MILLISECONDS);
        if (!granted) {
            ledger.miss("timeout");
        }
        return granted;
    }

    private void write(Ledger ledger, long asked, boolean downgrade) throws Exception {
        Ledger.Hold hold = null;
        boolean reads = false;
        try {
            hold = ledger.begin("write", asked, null, writers.node());
            if (hold != null) {
                hold.linger(Ledger.span());
                reads = downgrade && granted(readers, ledger);
            }
        } finally {
            if (hold != null) {
                hold.end();
            }
            release(ledger, asked, reads, hold);
        }
    }

    /** Releases the write lock, and goes on to read if the read lock is held too. */
    private void release(Ledger ledger, long asked, boolean reads, Ledger.Hold written) throws Exception {
        try {
            writers.release();
        } finally {
            if (reads) {
                read(ledger, asked, written);
            }
        }
    }

    private void read(Ledger ledger, long asked, Ledger.Hold under) throws Exception {
        try {
            Ledger.Hold hold = ledger.begin("read", asked, under, readers.node());
            if (hold != null) {
                hold.linger(Ledger.span());
                hold.end();
            }
        } finally {
            readers.release();
        }
    }
}
