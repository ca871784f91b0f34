import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/** One of Curator's locks that shows the names of its nodes. */
interface NamedLock extends InterProcessLock {
    /** Returns the name of the node, the first if there are several, by which this thread holds the lock. */
    String node();

    /**
     * * Returns the mutex at the path or, with {@code locks=N}, the multi-lock of the N mutexes below it, in the order
     * of their paths, with {@code foreign=1} in the opposite order.
     */
    static NamedLock of(CuratorFramework client, Interop.Arguments arguments) {
        int locks = arguments.number("locks", 0);
        if (locks == 0) {
            return new NamedMutex(client, arguments.path);
        }
        List<String> paths = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            paths.add(arguments.number("foreign", 0) == 0 ? paths.size() : 0, arguments.path + "/" + i);
        }
        return new NamedMultiLock(client, paths);
    }
}
